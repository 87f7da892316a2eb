// The libraries whose functions are looked up on demand, as indexes of the table in loader.c.
#define AVUTIL 0
#define AVCODEC 1
#define AVFORMAT 2
#define AVFILTER 3
#define SWSCALE 4
#define SWRESAMPLE 5
#define SDL 6
#define ASS 7
