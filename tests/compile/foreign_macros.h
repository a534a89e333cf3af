/* Macros that windows.h, X11, Qt, glibc and macOS define, with a character that no C program may contain: the headers
   must not use these names. Object-like and function-like as there. */

/* windows.h and the headers that it includes */
#define near @
#define far @
#define small @
#define hyper @
#define interface @
#define pascal @
#define cdecl @
#define min(a, b) @
#define max(a, b) @
#define IN @
#define OUT @
#define OPTIONAL @
#define FAR @
#define NEAR @
#define CONST @
#define VOID @
#define CALLBACK @
#define PURE @
#define THIS @
#define TRUE @
#define FALSE @
#define ERROR @
#define NO_ERROR @
#define IGNORE @
#define INFINITE @
#define STRICT @
#define OPAQUE @
#define TRANSPARENT @
#define ABSOLUTE @
#define RELATIVE @
#define DELETE @
#define SYNCHRONIZE @
#define DIFFERENCE @
#define Yield() @
#define GetMessage @
#define GetObject @
#define CreateEvent @
#define CreateFile @
#define grp1 @
#define rad1 @
#define lst1 @
#define edt1 @
#define ctl1 @
#define stc1 @
#define scr1 @
#define frm1 @
#define ico1 @
#define psh1 @
#define chx1 @
#define cmb1 @

/* Qt */
#define signals @
#define slots @
#define emit @
#define foreach @
#define forever @

/* X11 */
#define None @
#define Bool @
#define Status @
#define True @
#define False @
#define Success @
#define Always @
#define Complex @
#define Convex @
#define Nonconvex @
#define Above @
#define Below @
#define Opposite @
#define Expose @
#define Unsorted @
#define KeyPress @

/* glibc and gcc */
#define major(device) @
#define minor(device) @
#define makedev(major, minor) @
#define complex @
#define imaginary @
#define I @
#define unix @
#define linux @
#define ECHO @
#define B0 @

/* macOS */
#define check(condition) @
#define verify(condition) @
#define require(condition, label) @
#define nil @
#define Nil @
#define YES @
#define NO @
#define PI @
