// Names of two kernels: one as long as those of templates in libraries, and one that fits no buffer.
#define TEN_TIMES(text) text text text text text text text text text text
#define NAMED_LIKE_A_TEMPLATE "kernel_" TEN_TIMES(TEN_TIMES("abc"))
#define NAMED_TOO_LONG "kernel_" TEN_TIMES(TEN_TIMES(TEN_TIMES("abcdefghij")))
