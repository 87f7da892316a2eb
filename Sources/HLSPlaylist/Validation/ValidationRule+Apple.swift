extension ValidationRule {
    /// The rules of Apple's HLS Authoring Specification that can be checked in the text of playlists, in order.
    static let appleRules: [ValidationRule] = [
        section(
            "Apple 1.1",
            of: .apple,
            must: [
                "apple-video-codec": "Video must be H.264, HEVC, Dolby Vision or AV1."
            ]
        ),
        section(
            "Apple 1.3b",
            of: .apple,
            must: [
                "apple-h264-level": "H.264 must be at most High Profile, level 5.2."
            ]
        ),
        section(
            "Apple 1.3a",
            of: .apple,
            should: [
                "apple-no-compatible-h264": "Some H.264 variants should be at most level 4.1."
            ]
        ),
        section(
            "Apple 1.4",
            of: .apple,
            should: [
                "apple-h264-not-high": "H.264 should use High Profile rather than Main or Baseline."
            ]
        ),
        section(
            "Apple 1.6b",
            of: .apple,
            must: [
                "apple-hevc-level": "HEVC must be at most Main 10, level 5.1, High tier."
            ]
        ),
        section(
            "Apple 1.6a",
            of: .apple,
            should: [
                "apple-no-compatible-hevc": "Some HEVC variants should be at most Main 10, level 4.0, Main tier."
            ]
        ),
        section(
            "Apple 1.10",
            of: .apple,
            should: [
                "apple-in-band-parameters":
                    "Parameter sets should be in the sample description: avc1, hvc1, dvh1, not avc3, hev1, dvhe."
            ]
        ),
        section(
            "Apple 1.12",
            of: .apple,
            should: [
                "apple-no-h264": "Some video should be H.264."
            ]
        ),
        section(
            "Apple 1.19",
            of: .apple,
            must: [
                "apple-frame-rate-too-high": "Frame rates must not exceed 60 frames per second."
            ]
        ),
        section(
            "Apple 1.20",
            of: .apple,
            should: [
                "apple-no-hdr-at-30": "If there is HDR video, some of it should have at most 30 frames per second."
            ]
        ),
        section(
            "Apple 1.24",
            of: .apple,
            must: [
                "apple-no-sdr": "A presentation with HDR video must also have SDR video."
            ]
        ),
        section(
            "Apple 1.30",
            of: .apple,
            should: [
                "apple-peak-twice-average": "BANDWIDTH should be at most twice AVERAGE-BANDWIDTH."
            ]
        ),
        section(
            "Apple 1.32",
            of: .apple,
            should: [
                "apple-default-variant":
                    "Of the variants with the same audio, the first should have an average bit rate near 2000 kbit/s."
            ]
        ),
        section(
            "Apple 1.33",
            of: .apple,
            should: [
                "apple-aspect-ratios-differ": "All video variants should have the same aspect ratio."
            ]
        ),
        section(
            "Apple 1.34",
            of: .apple,
            should: [
                "apple-uhd-too-fast": "If there is UHD video, some of it should have at most 15 Mbit/s."
            ]
        ),
        section(
            "Apple 1.37",
            of: .apple,
            must: [
                "apple-av1-level": "AV1 must be at most level 6.2."
            ]
        ),
        section(
            "Apple 2.3",
            of: .apple,
            must: [
                "apple-no-stereo-aac": "There must be stereo audio in AAC or HE-AAC."
            ]
        ),
        section(
            "Apple 2.13",
            of: .apple,
            must: [
                "apple-description-not-autoselect": "A rendition that describes video must have AUTOSELECT=YES."
            ]
        ),
        section(
            "Apple 4.1",
            of: .apple,
            should: [
                "apple-no-captions": "Video should have captions or subtitles."
            ]
        ),
        section(
            "Apple 4.5",
            of: .apple,
            must: [
                "apple-sdh-incomplete": "Subtitles that describe music and sound must also transcribe dialog."
            ]
        ),
        section(
            "Apple 4.6",
            of: .apple,
            must: [
                "apple-sdh-not-autoselect": "Subtitles for the deaf and hard of hearing must have AUTOSELECT=YES."
            ]
        ),
        section(
            "Apple 5.10",
            of: .apple,
            should: [
                "apple-subtitles-not-in-codecs": "CODECS should contain the format of the subtitles."
            ]
        ),
        section(
            "Apple 5.11",
            of: .apple,
            should: [
                "apple-forced-not-autoselect": "Forced subtitles should have AUTOSELECT=YES."
            ]
        ),
        section(
            "Apple 6.1",
            of: .apple,
            must: [
                "apple-no-i-frames": "A presentation with video must have I-frame playlists."
            ]
        ),
        section(
            "Apple 6.6",
            of: .apple,
            should: [
                "apple-one-i-frame-playlist": "There should be I-frame playlists with several bit rates."
            ]
        ),
        section(
            "Apple 6.14",
            of: .apple,
            should: [
                "apple-i-frames-without-h264": "Some I-frame playlists should be H.264."
            ]
        ),
        section(
            "Apple 6.16",
            of: .apple,
            must: [
                "apple-i-frames-without-sdr": "Some I-frame playlists must be SDR."
            ]
        ),
        section(
            "Apple 7.5",
            of: .apple,
            should: [
                "apple-target-duration": "The target duration should be 6 seconds."
            ]
        ),
        section(
            "Apple 7.6",
            of: .apple,
            should: [
                "apple-segment-duration": "Segments should have a duration of about 6 seconds."
            ]
        ),
        section(
            "Apple 7.7",
            of: .apple,
            must: [
                "apple-longer-than-target": "A segment must not exceed the target duration by more than half a second."
            ]
        ),
        section(
            "Apple 8.4",
            of: .apple,
            must: [
                "apple-live-without-date": "A live playlist must have EXT-X-PROGRAM-DATE-TIME."
            ]
        ),
        section(
            "Apple 8.6",
            of: .apple,
            must: [
                "apple-missing-playlist-type": "A playlist that has ended must have EXT-X-PLAYLIST-TYPE."
            ]
        ),
        section(
            "Apple 8.10",
            of: .apple,
            must: [
                "apple-missing-language": "Each EXT-X-MEDIA, except for video, must have LANGUAGE."
            ]
        ),
        section(
            "Apple 8.11",
            of: .apple,
            must: [
                "apple-live-window-short": "A live playlist must have at least six segments."
            ]
        ),
        section(
            "Apple 8.12",
            of: .apple,
            should: [
                "apple-live-window": "A live playlist should have a duration of at least 15 minutes."
            ]
        ),
        section(
            "Apple 8.17",
            of: .apple,
            must: [
                "apple-live-without-discontinuity-sequence":
                    "A live playlist with discontinuities must have EXT-X-DISCONTINUITY-SEQUENCE."
            ]
        ),
        section(
            "Apple 9.1",
            of: .apple,
            must: [
                "apple-missing-codecs": "EXT-X-STREAM-INF must have CODECS."
            ]
        ),
        section(
            "Apple 9.2",
            of: .apple,
            must: [
                "apple-missing-resolution": "EXT-X-STREAM-INF with video must have RESOLUTION."
            ]
        ),
        section(
            "Apple 9.3",
            of: .apple,
            must: [
                "apple-i-frame-without-codecs": "EXT-X-I-FRAME-STREAM-INF must have CODECS."
            ]
        ),
        section(
            "Apple 9.4",
            of: .apple,
            must: [
                "apple-i-frame-without-resolution": "EXT-X-I-FRAME-STREAM-INF must have RESOLUTION."
            ]
        ),
        section(
            "Apple 9.5",
            of: .apple,
            should: [
                "apple-muxed-audio": "Video and audio should be in separate streams."
            ]
        ),
        section(
            "Apple 9.6",
            of: .apple,
            must: [
                "apple-multichannel-muxed": "Multichannel audio must be in a separate stream."
            ]
        ),
        section(
            "Apple 9.7",
            of: .apple,
            must: [
                "apple-alternative-audio-muxed":
                    "If there is alternative audio, all audio must be in separate streams."
            ]
        ),
        section(
            "Apple 9.9",
            of: .apple,
            must: [
                "apple-single-variant": "Video must have variants with several bit rates."
            ]
        ),
        section(
            "Apple 9.10",
            of: .apple,
            should: [
                "apple-one-top-variant": "HD video should have two variants with the highest resolution."
            ]
        ),
        section(
            "Apple 9.11",
            of: .apple,
            should: [
                "apple-missing-independent-segments":
                    "A multivariant playlist should have EXT-X-INDEPENDENT-SEGMENTS."
            ]
        ),
        section(
            "Apple 9.14",
            of: .apple,
            must: [
                "apple-missing-average-bandwidth": "EXT-X-STREAM-INF must have AVERAGE-BANDWIDTH."
            ]
        ),
        section(
            "Apple 9.15",
            of: .apple,
            must: [
                "apple-missing-frame-rate": "EXT-X-STREAM-INF with video must have FRAME-RATE."
            ]
        ),
        section(
            "Apple 9.16",
            of: .apple,
            must: [
                "apple-missing-video-range":
                    "If there is HDR video, each video variant and I-frame playlist must have VIDEO-RANGE."
            ]
        ),
        section(
            "Apple 9.17",
            of: .apple,
            should: [
                "apple-rendition-order":
                    "Renditions of a group with the same language should be ordered from most general to most specific."
            ]
        ),
        section(
            "Apple 9.18",
            of: .apple,
            should: [
                "apple-steering-without-pathway": "EXT-X-CONTENT-STEERING should have PATHWAY-ID."
            ]
        ),
        section(
            "Apple 9.19",
            of: .apple,
            must: [
                "apple-missing-score": "Either all variants or none must have SCORE."
            ]
        ),
        section(
            "Apple 9.20",
            of: .apple,
            must: [
                "apple-apac-without-profile": "APAC in CODECS must include its profile and level."
            ]
        ),
        section(
            "Apple 10.2",
            of: .apple,
            should: [
                "apple-no-failover": "There should be a redundant source: duplicate variants or content steering."
            ]
        ),
        section(
            "Apple 11.2",
            of: .apple,
            should: [
                "apple-playlist-without-tls": "Media playlists should be delivered over TLS."
            ]
        ),
        section(
            "Apple 11.3",
            of: .apple,
            should: [
                "apple-segment-without-tls": "Segments should be delivered over TLS."
            ]
        ),
        section(
            "Apple 13.2",
            of: .apple,
            must: [
                "apple-fairplay-method": "FairPlay keys must use SAMPLE-AES."
            ]
        ),
        section(
            "Apple 13.3",
            of: .apple,
            must: [
                "apple-fairplay-key-format": "FairPlay keys must have KEYFORMAT com.apple.streamingkeydelivery."
            ]
        ),
        section(
            "Apple 13.4",
            of: .apple,
            should: [
                "apple-fairplay-iv": "FairPlay keys should not have IV."
            ]
        ),
        section(
            "Apple 13.5",
            of: .apple,
            should: [
                "apple-hd-without-hdcp": "Protected HD variants should have HDCP-LEVEL=TYPE-0."
            ]
        ),
        section(
            "Apple 13.6",
            of: .apple,
            should: [
                "apple-uhd-without-hdcp": "Protected variants over HD should have HDCP-LEVEL=TYPE-1."
            ]
        ),
        section(
            "Apple 13.11",
            of: .apple,
            must: [
                "apple-sample-aes-ctr": "SAMPLE-AES-CTR must not be used."
            ]
        ),
        section(
            "Apple 14.2c",
            of: .apple,
            should: [
                "apple-part-target": "The part target duration should be one second."
            ]
        ),
        section(
            "Apple 14.3",
            of: .apple,
            must: [
                "apple-part-hold-back": "PART-HOLD-BACK must be at least three part target durations."
            ]
        ),
        section(
            "Apple 14.4",
            of: .apple,
            should: [
                "apple-no-delta-updates":
                    "A low-latency playlist of more than two minutes should support delta updates."
            ]
        ),
        section(
            "Apple 14.5",
            of: .apple,
            should: [
                "apple-no-date-range-skip":
                    "A playlist with date ranges and delta updates should have CAN-SKIP-DATERANGES=YES."
            ]
        ),
        section(
            "Apple 16.7",
            of: .apple,
            must: [
                "apple-immersive-not-stereo": "Immersive video must have CH-STEREO in addition to PROJ-AIV."
            ]
        ),
        section(
            "Apple 9.12",
            of: .apple,
            must: [
                "apple-no-independent-segments":
                    "EXT-X-INDEPENDENT-SEGMENTS must be in the multivariant playlist or in all "
                    + "video media playlists."
            ]
        ),
        section(
            "Apple 1.5",
            of: .apple,
            must: [
                "apple-hevc-not-fmp4": "HEVC must be in fragmented MPEG-4."
            ]
        ),
        section(
            "Apple 1.39",
            of: .apple,
            must: [
                "apple-av1-not-fmp4": "AV1 must be in fragmented MPEG-4."
            ]
        ),
        section(
            "Apple 8.22",
            of: .apple,
            should: [
                "apple-boundaries-differ": "All variants should have segment boundaries at the same times."
            ]
        ),
    ].flatMap { $0 }
}
