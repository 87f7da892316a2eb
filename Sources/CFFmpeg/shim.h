// FFmpeg 5.1 and later. What Swift cannot import (macros that compute, names that changed between versions) is a
// function here and nowhere else.
#pragma once

#include <errno.h>
#include <string.h>
#include <libavcodec/avcodec.h>
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
