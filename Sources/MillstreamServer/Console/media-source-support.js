// The streams that this browser can play by Media Source Extensions.

/** The beginnings of the names of subtitle codecs, which source buffers do not take. */
const subtitleCodecs = /^(wvtt|stpp|tx3g|vtt|ttml)/;

/** The beginnings of the names of video codecs. */
const videoCodecs = /^(avc|hvc|hev|dvh|vp0?[89]|av01)/;

/** The class of media sources that this browser has; `undefined` without any. */
export const MediaSourceClass = globalThis.MediaSource ?? globalThis.ManagedMediaSource;

/**
 * Returns the variants with which one source buffer can continue, those with the lowest bandwidth first: all with video if any has
 * it, and all with the audio in the variant or all with the audio in renditions.
 */
export function playableVariants(variants) {
    const supported = variants.filter(({ address, codecs }) => address && isSupported(codecs))
        .sort((one, other) => (one.bandwidth ?? 0) - (other.bandwidth ?? 0));
    const withVideo = supported.filter(({ height, codecs }) => height > 0 || codecs?.some((codec) => videoCodecs.test(codec)));
    const candidates = withVideo.length > 0 ? withVideo : supported;
    return candidates.filter(({ audio }) => (audio === undefined) === (candidates[0].audio === undefined));
}

function isSupported(codecs) {
    const text = codecs?.filter((codec) => !subtitleCodecs.test(codec)).join(',');
    return !text || ['video', 'audio'].some((kind) => MediaSourceClass.isTypeSupported(`${kind}/mp4; codecs="${text}"`));
}
