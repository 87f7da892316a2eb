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
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static inline int cffmpeg_error_again(void) { return AVERROR(EAGAIN); }
static inline int cffmpeg_error_end(void) { return AVERROR_EOF; }
static inline int cffmpeg_error_invalid_data(void) { return AVERROR_INVALIDDATA; }
static inline int cffmpeg_error_invalid_argument(void) { return AVERROR(EINVAL); }
static inline int cffmpeg_error_no_memory(void) { return AVERROR(ENOMEM); }
static inline int cffmpeg_error_io(void) { return AVERROR(EIO); }
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
