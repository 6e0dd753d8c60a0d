/* Names of kernels of 150 bytes that differ in the last one. */
#ifndef LONG_NAMES_H
#define LONG_NAMES_H

#define PASTE(begin, end) begin##end
#define PASTED(begin, end) PASTE(begin, end)
#define TEN kernel_of_
#define FIFTY PASTED(PASTED(PASTED(PASTED(TEN, TEN), TEN), TEN), TEN)
#define LONG_NAME(last) PASTED(PASTED(PASTED(FIFTY, FIFTY), FIFTY), last)
#define KERNELS(with) with(a) with(b) with(c) with(d) with(e) with(f) with(g) with(h)

#endif
