// FFmpeg 5.1 and later. What Swift cannot import (macros that compute, names that changed between versions) is a
// function here and nowhere else.
#pragma once

#include <errno.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/spherical.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static inline int cffmpeg_error_again(void) { return AVERROR(EAGAIN); }
static inline int cffmpeg_error_end(void) { return AVERROR_EOF; }
static inline int cffmpeg_error_invalid_data(void) { return AVERROR_INVALIDDATA; }
static inline int cffmpeg_error_invalid_argument(void) { return AVERROR(EINVAL); }
static inline int cffmpeg_error_no_memory(void) { return AVERROR(ENOMEM); }
static inline int cffmpeg_error_io(void) { return AVERROR(EIO); }
static inline int cffmpeg_error_experimental(void) { return AVERROR_EXPERIMENTAL; }
static inline int64_t cffmpeg_no_timestamp(void) { return AV_NOPTS_VALUE; }
static inline int cffmpeg_seek_size(void) { return AVSEEK_SIZE; }
static inline int cffmpeg_seek_force(void) { return AVSEEK_FORCE; }

// How long a decoded frame is shown, in units of its packet's time base; 0 where that is not known.
static inline int64_t cffmpeg_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

static inline int cffmpeg_frame_is_key(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}

// Closed captions of a frame, as pairs and triples of CTA-708's cc_data.
static inline const AVFrameSideData *cffmpeg_captions(const AVFrame *frame) {
    return av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC);
}

// Macros in some versions and an enumeration in others.
static inline int cffmpeg_scaler_flags(void) { return SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT; }

// Converts the samples of a frame, or what is left inside where there is none, to interleaved floats. The constness of
// the pointers differs between versions.
static inline int cffmpeg_resample(SwrContext *context, float *output, int capacity, const AVFrame *frame) {
    uint8_t *planes[1] = { (uint8_t *)output };
    if (!frame) return swr_convert(context, planes, capacity, NULL, 0);
    return swr_convert(context, planes, capacity, (const uint8_t **)frame->extended_data, frame->nb_samples);
}

// A resampler from the samples of a frame to interleaved floats; NULL where there is none.
static inline SwrContext *cffmpeg_resampler(const AVFrame *frame, int channels, int sample_rate) {
    SwrContext *context = NULL;
    AVChannelLayout output, input;
    int status;
    av_channel_layout_default(&output, channels);
    if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC) {
        av_channel_layout_default(&input, frame->ch_layout.nb_channels);
    } else {
        memset(&input, 0, sizeof(input));
        if (av_channel_layout_copy(&input, &frame->ch_layout) < 0) return NULL;
    }
    status = swr_alloc_set_opts2(&context, &output, AV_SAMPLE_FMT_FLT, sample_rate, &input,
                                 (enum AVSampleFormat)frame->format, frame->sample_rate, 0, NULL);
    av_channel_layout_uninit(&input);
    av_channel_layout_uninit(&output);
    if (status < 0 || swr_init(context) < 0) swr_free(&context);
    return context;
}

// The memory of the frames that a decoder holds, and what it may be at most. It lives as long as the
// decoder or one of its frames does.
typedef struct cffmpeg_frame_budget {
    int64_t limit;
    int64_t used;
    int references;
} cffmpeg_frame_budget;

typedef struct cffmpeg_frame_claim {
    cffmpeg_frame_budget *budget;
    int64_t bytes;
} cffmpeg_frame_claim;

static inline void cffmpeg_frame_budget_release(cffmpeg_frame_budget *budget) {
    if (budget && __atomic_sub_fetch(&budget->references, 1, __ATOMIC_ACQ_REL) == 0) av_free(budget);
}

static inline int64_t cffmpeg_frame_budget_used(cffmpeg_frame_budget *budget) {
    return __atomic_load_n(&budget->used, __ATOMIC_ACQUIRE);
}

static inline void cffmpeg_free_claim(void *opaque, uint8_t *data) {
    cffmpeg_frame_claim *claim = (cffmpeg_frame_claim *)data;
    (void)opaque;
    __atomic_sub_fetch(&claim->budget->used, claim->bytes, __ATOMIC_ACQ_REL);
    cffmpeg_frame_budget_release(claim->budget);
    av_free(claim);
}

// The memory that a frame of this size takes.
static inline int64_t cffmpeg_frame_size(const AVFrame *frame) {
    int size;
    if (frame->width > 0 && frame->height > 0) {
        size = av_image_get_buffer_size((enum AVPixelFormat)frame->format, frame->width, frame->height, 1);
        // Frames of a device have no size of their own.
        return size > 0 ? size : (int64_t)frame->width * frame->height * 3 / 2;
    }
    size = av_samples_get_buffer_size(NULL, frame->ch_layout.nb_channels, frame->nb_samples,
                                      (enum AVSampleFormat)frame->format, 1);
    return size > 0 ? size : 0;
}

// Allocates a frame where the budget allows it. What it takes is given back with its last reference.
static inline int cffmpeg_get_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    cffmpeg_frame_budget *budget = (cffmpeg_frame_budget *)context->opaque;
    int64_t bytes = cffmpeg_frame_size(frame);
    cffmpeg_frame_claim *claim;
    int status;
    if (__atomic_add_fetch(&budget->used, bytes, __ATOMIC_ACQ_REL) > budget->limit) {
        __atomic_sub_fetch(&budget->used, bytes, __ATOMIC_ACQ_REL);
        return AVERROR(ENOMEM);
    }
    status = avcodec_default_get_buffer2(context, frame, flags);
    claim = status < 0 ? NULL : (cffmpeg_frame_claim *)av_malloc(sizeof(*claim));
    if (claim) {
        claim->budget = budget;
        claim->bytes = bytes;
        av_buffer_unref(&frame->opaque_ref);
        frame->opaque_ref = av_buffer_create((uint8_t *)claim, sizeof(*claim), cffmpeg_free_claim, NULL, 0);
        if (frame->opaque_ref) {
            __atomic_add_fetch(&budget->references, 1, __ATOMIC_ACQ_REL);
            return status;
        }
        av_free(claim);
    }
    __atomic_sub_fetch(&budget->used, bytes, __ATOMIC_ACQ_REL);
    if (status < 0) return status;
    av_frame_unref(frame);
    return AVERROR(ENOMEM);
}

// Lets a decoder take no more memory for its frames than a limit. The caller releases the budget after the decoder.
static inline cffmpeg_frame_budget *cffmpeg_limit_frames(AVCodecContext *context, int64_t limit) {
    cffmpeg_frame_budget *budget = (cffmpeg_frame_budget *)av_mallocz(sizeof(*budget));
    if (!budget) return NULL;
    budget->limit = limit;
    budget->references = 1;
    context->opaque = budget;
    context->get_buffer2 = cffmpeg_get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
    // Set in later versions for all.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    context->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
    return budget;
}

// Adds a chapter, which the context frees.
static inline int cffmpeg_add_chapter(AVFormatContext *context, AVRational time_base, int64_t start, int64_t end,
                                      const char *title) {
    AVChapter *chapter;
    AVChapter **chapters = (AVChapter **)av_realloc_array(context->chapters, context->nb_chapters + 1,
                                                          sizeof(*chapters));
    if (!chapters) return AVERROR(ENOMEM);
    context->chapters = chapters;
    chapter = (AVChapter *)av_mallocz(sizeof(*chapter));
    if (!chapter) return AVERROR(ENOMEM);
    chapter->id = context->nb_chapters + 1;
    chapter->time_base = time_base;
    chapter->start = start;
    chapter->end = end;
    chapters[context->nb_chapters++] = chapter;
    return av_dict_set(&chapter->metadata, "title", title, 0);
}

// Replaces the codec configuration of a track.
static inline int cffmpeg_set_extra_data(AVCodecParameters *parameters, const uint8_t *data, int size) {
    uint8_t *copy = (uint8_t *)av_mallocz((size_t)size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!copy) return AVERROR(ENOMEM);
    memcpy(copy, data, (size_t)size);
    av_freep(&parameters->extradata);
    parameters->extradata = copy;
    parameters->extradata_size = size;
    return 0;
}

// The display matrix of a track, nine numbers; NULL where there is none.
static inline const int32_t *cffmpeg_display_matrix(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    const AVCodecParameters *parameters = stream->codecpar;
    const AVPacketSideData *data = av_packet_side_data_get(parameters->coded_side_data,
                                                           parameters->nb_coded_side_data,
                                                           AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= 9 * sizeof(int32_t) ? (const int32_t *)data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#endif
}

// Removes the display matrix that a track has from the parameters that were copied to it.
static inline void cffmpeg_remove_display_matrix(AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    AVCodecParameters *parameters = stream->codecpar;
    av_packet_side_data_remove(parameters->coded_side_data, &parameters->nb_coded_side_data,
                               AV_PKT_DATA_DISPLAYMATRIX);
#else
    (void)stream;
#endif
}

// Adds side data to a track, which takes ownership of the data.
static inline int cffmpeg_add_side_data(AVStream *stream, enum AVPacketSideDataType type, uint8_t *data, size_t size) {
    int status;
    if (!data) return AVERROR(ENOMEM);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    status = av_packet_side_data_add(&stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type,
                                     data, size, 0) ? 0 : AVERROR(ENOMEM);
#else
    status = av_stream_add_side_data(stream, type, data, size);
#endif
    if (status < 0) av_free(data);
    return status;
}

// Gives a track the display matrix whose first two rows have these numbers.
static inline int cffmpeg_set_display_matrix(AVStream *stream, int a, int b, int c, int d) {
    int32_t *matrix = (int32_t *)av_mallocz(9 * sizeof(int32_t));
    if (matrix) {
        matrix[0] = a * (1 << 16);
        matrix[1] = b * (1 << 16);
        matrix[3] = c * (1 << 16);
        matrix[4] = d * (1 << 16);
        matrix[8] = 1 << 30;
    }
    return cffmpeg_add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, (uint8_t *)matrix, 9 * sizeof(int32_t));
}

// Gives a track a spherical projection with these angles in degrees. The Matroska muxers of some versions write only
// these angles, and not those of a display matrix.
static inline int cffmpeg_set_projection(AVStream *stream, int yaw, int roll) {
    size_t size = 0;
    AVSphericalMapping *projection = av_spherical_alloc(&size);
    if (projection) {
        projection->projection = AV_SPHERICAL_EQUIRECTANGULAR;
        projection->yaw = yaw * (1 << 16);
        projection->roll = roll * (1 << 16);
    }
    return cffmpeg_add_side_data(stream, AV_PKT_DATA_SPHERICAL, (uint8_t *)projection, size);
}

// Copies a plane of pixels of a fixed size. Pixel (x, y) of the output is the one at `origin`, moved by x times
// `across` and y times `down` bytes. Square blocks of a transposed plane stay in the cache.
#define CFFMPEG_ORIENT(type)                                                                                    \
    for (top = 0; top < height; top += 16)                                                                      \
        for (left = 0; left < width; left += 16)                                                                \
            for (y = top; y < height && y < top + 16; y++)                                                      \
                for (x = left; x < width && x < left + 16; x++)                                                 \
                    memcpy(output + y * stride + x * (ptrdiff_t)sizeof(type), origin + x * across + y * down,    \
                           sizeof(type))

typedef struct cffmpeg_pixel6 { uint8_t bytes[6]; } cffmpeg_pixel6;
typedef struct cffmpeg_pixel3 { uint8_t bytes[3]; } cffmpeg_pixel3;

static inline int cffmpeg_orient_plane(uint8_t *output, ptrdiff_t stride, ptrdiff_t width, ptrdiff_t height,
                                       const uint8_t *origin, ptrdiff_t across, ptrdiff_t down, int pixel_size) {
    ptrdiff_t top, left, x, y;
    switch (pixel_size) {
    case 1: CFFMPEG_ORIENT(uint8_t); return 0;
    case 2: CFFMPEG_ORIENT(uint16_t); return 0;
    case 3: CFFMPEG_ORIENT(cffmpeg_pixel3); return 0;
    case 4: CFFMPEG_ORIENT(uint32_t); return 0;
    case 6: CFFMPEG_ORIENT(cffmpeg_pixel6); return 0;
    case 8: CFFMPEG_ORIENT(uint64_t); return 0;
    default: return AVERROR(ENOSYS);
    }
}

#undef CFFMPEG_ORIENT

// Returns whether the pixels of a format can be mirrored, and transposed where asked for, without other changes.
static inline int cffmpeg_can_orient(enum AVPixelFormat format, int is_transposed) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    const uint64_t unsupported = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM;
    int index;
    if (!descriptor || (descriptor->flags & unsupported)) return 0;
    if (is_transposed && descriptor->log2_chroma_w != descriptor->log2_chroma_h) return 0;
    // Pixels that share their color within a plane cannot be moved one by one.
    if (descriptor->log2_chroma_w && av_pix_fmt_count_planes(format) < 2) return 0;
    for (index = 0; index < descriptor->nb_components; index++) {
        int size = descriptor->comp[index].step;
        if (size < 1 || size > 8 || size == 5 || size == 7) return 0;
    }
    return 1;
}

// Returns a copy of a frame in main memory whose pixels are mirrored in the given directions after the axes are
// exchanged where asked for; NULL where the format does not permit it, or where there is no memory.
static inline AVFrame *cffmpeg_orient_frame(const AVFrame *frame, int is_transposed, int is_mirrored_horizontally,
                                            int is_mirrored_vertically) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get((enum AVPixelFormat)frame->format);
    int pixel_sizes[4] = { 0, 0, 0, 0 };
    AVFrame *output;
    int index, planes;
    if (!cffmpeg_can_orient((enum AVPixelFormat)frame->format, is_transposed)) return NULL;
    output = av_frame_alloc();
    if (!output) return NULL;
    output->format = frame->format;
    output->width = is_transposed ? frame->height : frame->width;
    output->height = is_transposed ? frame->width : frame->height;
    if (av_frame_get_buffer(output, 0) < 0 || av_frame_copy_props(output, frame) < 0) {
        av_frame_free(&output);
        return NULL;
    }
    if (is_transposed && frame->sample_aspect_ratio.num > 0) {
        output->sample_aspect_ratio.num = frame->sample_aspect_ratio.den;
        output->sample_aspect_ratio.den = frame->sample_aspect_ratio.num;
    }
    for (index = 0; index < descriptor->nb_components; index++) {
        const AVComponentDescriptor *component = &descriptor->comp[index];
        if (component->step > pixel_sizes[component->plane]) pixel_sizes[component->plane] = component->step;
    }
    planes = av_pix_fmt_count_planes((enum AVPixelFormat)frame->format);
    for (index = 0; index < planes && index < 4; index++) {
        int is_chroma = index == 1 || index == 2;
        ptrdiff_t width = AV_CEIL_RSHIFT(output->width, is_chroma ? descriptor->log2_chroma_w : 0);
        ptrdiff_t height = AV_CEIL_RSHIFT(output->height, is_chroma ? descriptor->log2_chroma_h : 0);
        ptrdiff_t across = is_transposed ? frame->linesize[index] : pixel_sizes[index];
        ptrdiff_t down = is_transposed ? pixel_sizes[index] : frame->linesize[index];
        const uint8_t *origin = frame->data[index];
        if (is_mirrored_horizontally) {
            origin += (width - 1) * across;
            across = -across;
        }
        if (is_mirrored_vertically) {
            origin += (height - 1) * down;
            down = -down;
        }
        if (cffmpeg_orient_plane(output->data[index], output->linesize[index], width, height, origin, across, down,
                                 pixel_sizes[index]) < 0) {
            av_frame_free(&output);
            return NULL;
        }
    }
    return output;
}
