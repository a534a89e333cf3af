/* The numbers of the SPIR-V printer and of the table of operations, compared with the headers of the SPIR-V
   registry. */
#include "tests/unit/unit.h"
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#define O(name) (uint32_t)SpvOp##name
#define E(name) (0x10000u | (uint32_t)GLSLstd450##name)
static const struct { unsigned op; uint32_t form[4]; } forms[] = { /* bool, int, uint, float */
    { VC__OP_VEC, { O(CompositeConstruct), O(CompositeConstruct), O(CompositeConstruct), O(CompositeConstruct) } },
    { VC__OP_COMPONENT, { O(CompositeExtract), O(CompositeExtract), O(CompositeExtract), O(CompositeExtract) } },
    { VC__OP_EXTRACT, { O(VectorExtractDynamic), O(VectorExtractDynamic), O(VectorExtractDynamic),
      O(VectorExtractDynamic) } },
    { VC__OP_BITCAST, { O(Bitcast), O(Bitcast), O(Bitcast), O(Bitcast) } },
    { VC__OP_NEG, { 0, O(SNegate), O(SNegate), O(FNegate) } },
    { VC__OP_ADD, { 0, O(IAdd), O(IAdd), O(FAdd) } },
    { VC__OP_SUB, { 0, O(ISub), O(ISub), O(FSub) } },
    { VC__OP_MUL, { 0, O(IMul), O(IMul), O(FMul) } },
    { VC__OP_DIV, { 0, O(SDiv), O(UDiv), O(FDiv) } },
    { VC__OP_REM, { 0, O(SRem), O(UMod), 0 } },
    { VC__OP_MOD, { 0, O(SMod), O(UMod), 0 } },
    { VC__OP_FMA, { 0, 0, 0, E(Fma) } },
    { VC__OP_ABS, { 0, E(SAbs), 0, E(FAbs) } },
    { VC__OP_SIGN, { 0, E(SSign), 0, E(FSign) } },
    { VC__OP_MIN, { 0, E(SMin), E(UMin), E(NMin) } },
    { VC__OP_MAX, { 0, E(SMax), E(UMax), E(NMax) } },
    { VC__OP_FLOOR, { 0, 0, 0, E(Floor) } },
    { VC__OP_CEIL, { 0, 0, 0, E(Ceil) } },
    { VC__OP_TRUNC, { 0, 0, 0, E(Trunc) } },
    { VC__OP_ROUND, { 0, 0, 0, E(RoundEven) } },
    { VC__OP_SQRT, { 0, 0, 0, E(Sqrt) } },
    { VC__OP_RSQRT, { 0, 0, 0, E(InverseSqrt) } },
    { VC__OP_EXP, { 0, 0, 0, E(Exp) } },
    { VC__OP_EXP2, { 0, 0, 0, E(Exp2) } },
    { VC__OP_LOG, { 0, 0, 0, E(Log) } },
    { VC__OP_LOG2, { 0, 0, 0, E(Log2) } },
    { VC__OP_POW, { 0, 0, 0, E(Pow) } },
    { VC__OP_SIN, { 0, 0, 0, E(Sin) } },
    { VC__OP_COS, { 0, 0, 0, E(Cos) } },
    { VC__OP_TAN, { 0, 0, 0, E(Tan) } },
    { VC__OP_ASIN, { 0, 0, 0, E(Asin) } },
    { VC__OP_ACOS, { 0, 0, 0, E(Acos) } },
    { VC__OP_ATAN, { 0, 0, 0, E(Atan) } },
    { VC__OP_ATAN2, { 0, 0, 0, E(Atan2) } },
    { VC__OP_SINH, { 0, 0, 0, E(Sinh) } },
    { VC__OP_COSH, { 0, 0, 0, E(Cosh) } },
    { VC__OP_TANH, { 0, 0, 0, E(Tanh) } },
    { VC__OP_ISNAN, { 0, 0, 0, O(IsNan) } },
    { VC__OP_ISINF, { 0, 0, 0, O(IsInf) } },
    { VC__OP_POPCOUNT, { 0, O(BitCount), 0, 0 } },
    { VC__OP_BIT_REVERSE, { 0, O(BitReverse), O(BitReverse), 0 } },
    { VC__OP_FIND_LSB, { 0, E(FindILsb), E(FindILsb), 0 } },
    { VC__OP_FIND_MSB, { 0, E(FindSMsb), E(FindUMsb), 0 } },
    { VC__OP_MUL_HI, { 0, O(SMulExtended), O(UMulExtended), 0 } },
    { VC__OP_PACK_HALF, { 0, 0, 0, E(PackHalf2x16) } },
    { VC__OP_UNPACK_HALF, { 0, 0, E(UnpackHalf2x16), 0 } },
    { VC__OP_NOT, { O(LogicalNot), O(Not), O(Not), 0 } },
    { VC__OP_AND, { O(LogicalAnd), O(BitwiseAnd), O(BitwiseAnd), 0 } },
    { VC__OP_OR, { O(LogicalOr), O(BitwiseOr), O(BitwiseOr), 0 } },
    { VC__OP_XOR, { O(LogicalNotEqual), O(BitwiseXor), O(BitwiseXor), 0 } },
    { VC__OP_SHL, { 0, O(ShiftLeftLogical), O(ShiftLeftLogical), 0 } },
    { VC__OP_SHR, { 0, O(ShiftRightArithmetic), O(ShiftRightLogical), 0 } },
    { VC__OP_EQ, { O(LogicalEqual), O(IEqual), O(IEqual), O(FOrdEqual) } },
    { VC__OP_NE, { O(LogicalNotEqual), O(INotEqual), O(INotEqual), O(FUnordNotEqual) } },
    { VC__OP_LT, { 0, O(SLessThan), O(ULessThan), O(FOrdLessThan) } },
    { VC__OP_LE, { 0, O(SLessThanEqual), O(ULessThanEqual), O(FOrdLessThanEqual) } },
    { VC__OP_SELECT, { O(Select), O(Select), O(Select), O(Select) } },
    { VC__OP_ANY, { O(Any), 0, 0, 0 } },
    { VC__OP_ALL, { O(All), 0, 0, 0 } },
    { VC__OP_ATOMIC_ADD, { 0, O(AtomicIAdd), O(AtomicIAdd), O(AtomicFAddEXT) } },
    { VC__OP_ATOMIC_MIN, { 0, O(AtomicSMin), O(AtomicUMin), 0 } },
    { VC__OP_ATOMIC_MAX, { 0, O(AtomicSMax), O(AtomicUMax), 0 } },
    { VC__OP_ATOMIC_AND, { 0, O(AtomicAnd), O(AtomicAnd), 0 } },
    { VC__OP_ATOMIC_OR, { 0, O(AtomicOr), O(AtomicOr), 0 } },
    { VC__OP_ATOMIC_XOR, { 0, O(AtomicXor), O(AtomicXor), 0 } },
    { VC__OP_ATOMIC_EXCHANGE, { 0, O(AtomicExchange), O(AtomicExchange), 0 } },
    { VC__OP_ATOMIC_CAS, { 0, O(AtomicCompareExchange), O(AtomicCompareExchange), 0 } },
    { VC__OP_ATOMIC_LOAD, { 0, O(AtomicLoad), O(AtomicLoad), 0 } },
    { VC__OP_ATOMIC_STORE, { 0, O(AtomicStore), O(AtomicStore), 0 } },
    { VC__OP_ELECT, { O(GroupNonUniformElect), 0, 0, 0 } },
    { VC__OP_VOTE_ANY, { O(GroupNonUniformAny), 0, 0, 0 } },
    { VC__OP_VOTE_ALL, { O(GroupNonUniformAll), 0, 0, 0 } },
    { VC__OP_BALLOT, { O(GroupNonUniformBallot), 0, 0, 0 } },
    { VC__OP_VOTE_EQUAL, { O(GroupNonUniformAllEqual), O(GroupNonUniformAllEqual), O(GroupNonUniformAllEqual),
      O(GroupNonUniformAllEqual) } },
    { VC__OP_BALLOT_COUNT, { 0, 0, O(GroupNonUniformBallotBitCount), 0 } },
    { VC__OP_BROADCAST, { O(GroupNonUniformBroadcast), O(GroupNonUniformBroadcast), O(GroupNonUniformBroadcast),
      O(GroupNonUniformBroadcast) } },
    { VC__OP_BROADCAST_FIRST, { O(GroupNonUniformBroadcastFirst), O(GroupNonUniformBroadcastFirst),
                                O(GroupNonUniformBroadcastFirst), O(GroupNonUniformBroadcastFirst) } },
    { VC__OP_SHUFFLE, { O(GroupNonUniformShuffle), O(GroupNonUniformShuffle), O(GroupNonUniformShuffle),
      O(GroupNonUniformShuffle) } },
    { VC__OP_SHUFFLE_XOR, { O(GroupNonUniformShuffleXor), O(GroupNonUniformShuffleXor), O(GroupNonUniformShuffleXor),
      O(GroupNonUniformShuffleXor) } },
    { VC__OP_SHUFFLE_UP, { O(GroupNonUniformShuffleUp), O(GroupNonUniformShuffleUp), O(GroupNonUniformShuffleUp),
      O(GroupNonUniformShuffleUp) } },
    { VC__OP_SHUFFLE_DOWN, { O(GroupNonUniformShuffleDown), O(GroupNonUniformShuffleDown),
      O(GroupNonUniformShuffleDown), O(GroupNonUniformShuffleDown) } },
    { VC__OP_SUBGROUP_ADD, { 0, O(GroupNonUniformIAdd), O(GroupNonUniformIAdd), O(GroupNonUniformFAdd) } },
    { VC__OP_SUBGROUP_MUL, { 0, O(GroupNonUniformIMul), O(GroupNonUniformIMul), O(GroupNonUniformFMul) } },
    { VC__OP_SUBGROUP_MIN, { 0, O(GroupNonUniformSMin), O(GroupNonUniformUMin), O(GroupNonUniformFMin) } },
    { VC__OP_SUBGROUP_MAX, { 0, O(GroupNonUniformSMax), O(GroupNonUniformUMax), O(GroupNonUniformFMax) } },
    { VC__OP_SUBGROUP_AND, { O(GroupNonUniformLogicalAnd), O(GroupNonUniformBitwiseAnd), O(GroupNonUniformBitwiseAnd),
      0 } },
    { VC__OP_SUBGROUP_OR, { O(GroupNonUniformLogicalOr), O(GroupNonUniformBitwiseOr), O(GroupNonUniformBitwiseOr),
      0 } },
    { VC__OP_SUBGROUP_XOR, { O(GroupNonUniformLogicalXor), O(GroupNonUniformBitwiseXor), O(GroupNonUniformBitwiseXor),
      0 } },
    { VC__OP_ADD_CARRY, { 0, 0, O(IAddCarry), 0 } },
    { VC__OP_SUB_BORROW, { 0, 0, O(ISubBorrow), 0 } },
    { VC__OP_DOT_II, { 0, 0, O(SDot), 0 } },
    { VC__OP_DOT_UU, { 0, 0, O(UDot), 0 } },
    { VC__OP_DOT_IU, { 0, 0, O(SUDot), 0 } },
    { VC__OP_DOT_II_SAT, { 0, 0, O(SDotAccSat), 0 } },
    { VC__OP_DOT_UU_SAT, { 0, 0, O(UDotAccSat), 0 } },
    { VC__OP_DOT_IU_SAT, { 0, 0, O(SUDotAccSat), 0 } }
};

static void test_operations(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (int j = 0; j < 4; j++) {
            if (vc__op[forms[i].op].spirv[j] != forms[i].form[j])
                print_message("# %s, form %d\n", vc__op_name[forms[i].op], j);
            assert_int_equal(vc__op[forms[i].op].spirv[j], forms[i].form[j]);
        }
}

static void test_all_operations_are_listed(void **state) {
    (void)state;
    for (size_t op = 0; op < sizeof vc__op / sizeof vc__op[0]; op++)
        for (int j = 0; j < 4; j++) {
            bool listed = vc__op[op].spirv[j] == 0;
            for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) listed = listed || forms[i].op == op;
            assert_true(listed);
        }
}

/* An operation printed as a plain instruction has an opcode for every kind of type that it accepts and that is not
   lowered; no other operation has one. */
static void test_plain_operations(void **state) {
    static vc__spirv s;
    static vc__listing l;
    vc__node n = { 0, 0, VC_F32, 0, { 0, 0, 0 }, 0 }; /* its own operand */
    vc_kernel *k = vc_begin(NULL);
    uint32_t plain = 0;
    (void)state;
    assert_non_null(vc_spirv(k, NULL));
    for (uint32_t op = 0; op < VC__OP_COUNT; op++) {
        if (!(k->lower.plain[op] & VC__PLAIN_PRINTED)) continue;
        for (int j = 0; j < 4; j++) {
            bool expanded = vc__op[op].rule && !(j == 3 && vc__op[op].flags & VC__FLAGS_INTEGERS);
            if (vc__op[op].kinds >> j & 1 && !expanded && !vc__op[op].spirv[j])
                fail_msg("%s has no form %d", vc__op_name[op], j);
        }
        memset(&s, 0, sizeof s);
        s.k = k;
        s.l = &l;
        s.section = k->section;
        l.node = &n;
        n.op = (uint8_t)op;
        vc__spirv_node(&s, &n, 0);
        if (!k->failed) fail_msg("%s is both printed as a plain instruction and lowered", vc__op_name[op]);
        assert_non_null(strstr(vc_error(k), "has no SPIR-V encoding"));
        k->failed = false;
        plain++;
    }
    assert_in_range(plain, 50, VC__OP_COUNT);
    vc_free(k);
}

static void test_enumerants(void **state) {
    static const uint32_t caps[VC__CAPS] = { /* indexed by bit */
        SpvCapabilityFloat16, SpvCapabilityFloat64, SpvCapabilityInt8, SpvCapabilityInt16, SpvCapabilityInt64,
        SpvCapabilityStorageBuffer8BitAccess, SpvCapabilityStorageBuffer16BitAccess,
        SpvCapabilityPhysicalStorageBufferAddresses, SpvCapabilityInt64Atomics, SpvCapabilityAtomicFloat32AddEXT,
        SpvCapabilityGroupNonUniform, SpvCapabilityGroupNonUniformVote, SpvCapabilityGroupNonUniformArithmetic,
        SpvCapabilityGroupNonUniformBallot, SpvCapabilityGroupNonUniformShuffle,
        SpvCapabilityGroupNonUniformShuffleRelative, SpvCapabilityGroupNonUniformClustered, SpvCapabilitySampled1D,
        SpvCapabilityImage1D, SpvCapabilitySampledBuffer, SpvCapabilityImageBuffer,
        SpvCapabilityStorageImageExtendedFormats, SpvCapabilityImageQuery, SpvCapabilityStorageImageReadWithoutFormat,
        SpvCapabilityStorageImageWriteWithoutFormat, SpvCapabilityDotProduct, SpvCapabilityDotProductInput4x8BitPacked,
        SpvCapabilitySampledImageArrayDynamicIndexing, SpvCapabilityStorageImageArrayDynamicIndexing,
        SpvCapabilitySampledImageArrayNonUniformIndexing, SpvCapabilityStorageImageArrayNonUniformIndexing
    };
    uint32_t seen = 0;
    static const uint32_t classes[] = {
        SpvStorageClassInput, SpvStorageClassWorkgroup, SpvStorageClassPrivate, SpvStorageClassFunction,
        SpvStorageClassPushConstant, SpvStorageClassStorageBuffer, SpvStorageClassPhysicalStorageBuffer,
        SpvStorageClassUniformConstant
    };
    static const uint32_t dims[] = { SpvDim1D, SpvDim2D, SpvDim3D, SpvDimCube, SpvDim1D, SpvDim2D, SpvDimBuffer };
    (void)state;
    for (int d = VC_DIM_1D; d <= VC_DIM_BUFFER; d++) assert_int_equal(vc__dims[d].spirv, dims[d - 1]);
    assert_int_equal(VC_FORMAT_RGBA32_F, SpvImageFormatRgba32f);
    assert_int_equal(VC_FORMAT_R11G11B10_F, SpvImageFormatR11fG11fB10f);
    assert_int_equal(VC_FORMAT_R8_SNORM, SpvImageFormatR8Snorm);
    assert_int_equal(VC_FORMAT_RGBA32_I, SpvImageFormatRgba32i);
    assert_int_equal(VC_FORMAT_R8_I, SpvImageFormatR8i);
    assert_int_equal(VC_FORMAT_RGB10A2_U, SpvImageFormatRgb10a2ui);
    assert_int_equal(VC_FORMAT_R8_U, SpvImageFormatR8ui);
    for (int i = 0; i < VC__CAPS; i++) {
        uint32_t bit = 0;
        while (vc__spirv_caps[i].cap >> bit > 1) bit++;
        assert_int_equal(vc__spirv_caps[i].number, caps[bit]);
        seen |= vc__spirv_caps[i].cap;
    }
    assert_int_equal(seen, (UINT32_C(1) << VC__CAPS) - 1);
    assert_memory_equal(classes, vc__spirv_class, sizeof classes);
}

static const struct CMUnitTest spirv_numbers_tests[] = {
    cmocka_unit_test(test_operations), cmocka_unit_test(test_all_operations_are_listed),
    cmocka_unit_test(test_plain_operations), cmocka_unit_test(test_enumerants),
};
