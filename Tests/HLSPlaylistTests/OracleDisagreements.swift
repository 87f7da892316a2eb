/// The facts on which this parser and Python's m3u8 6.0.0 disagree about a playlist of the corpus, with the reason.
///
/// The table lists only disagreements in which this parser is right; a disagreement in which the oracle is right is a
/// defect.
enum OracleDisagreements {
    /// The reasons by path relative to `corpus/hls` and by fact.
    static let all: [String: [OracleField: Reason]] = [
        "Comcast__mamba/mambaTests/Fixtures/ThirdPartyTagsTestFixture.txt.m3u8": [.duration: .extinfWithoutURI],
        "Comcast__mamba/mambaTests/Fixtures/hls_sampleMediaFile.txt.m3u8": [.keyCount: .countsMethodNone],
        "Comcast__mamba/mambaTests/Fixtures/hls_variant_playlist_with_daterange_metadata.m3u8":
            [.dateRangeCount: .countsDateRangeTags],
        "Comcast__mamba/mambaTests/Fixtures/hls_writer_parser_roundtrip_tester.txt.m3u8": [
            .isReadable: .throwsException
        ],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/master-with-i-frame-stream-inf.m3u8": [.isReadable: .throwsException],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/media-playlist-with-cue-out-in-without-oatcls.m3u8":
            [.duration: .extinfWithoutURI],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/media-playlist-with-defines.m3u8": [.firstAddress: .variables],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/media-playlist-with-interstitial.m3u8":
            [.dateRangeCount: .afterLastSegment],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/media-playlist-with-key.m3u8": [.keyCount: .unusedKey],
        "Eyevinn__hls-m3u8/m3u8/sample-playlists/media-playlist-with-scte35-daterange.m3u8":
            [.dateRangeCount: .countsDateRangeTags],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/segmented-ttml-mp4/output.m3u8":
            [.kind: .streamInfOnly],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/segmented-ttml-text/output.m3u8":
            [.kind: .streamInfOnly],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/segmented-webvtt-mp4/output.m3u8":
            [.kind: .streamInfOnly],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/segmented-webvtt-text/output.m3u8":
            [.kind: .streamInfOnly],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/segmented-webvtt-with-language-override/output.m3u8":
            [.kind: .streamInfOnly],
        "Pluto-tv__shaka-packager-live/packager/app/test/testdata/single-file-webvtt-text/output.m3u8":
            [.kind: .streamInfOnly],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/008bf86011e6ce85.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/12b0fec34cc01e13.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/20e2bc762b4b2df6.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/46a44236cd07c5d2.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/53add8162a010ac5.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/55a61c0d98511fa7.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/5de4baefe444cc70.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/5fc5e720411f7057.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/72341b0e4a6669ed.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/771e938e4458e983.m3u8":
            [.isReadable: .acceptsAnyText],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/8cdbe86e3c540980.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/8d417fb20af60253.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/91502fec43ebaa5d.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/9a2c92c6571ffbcc.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/a3b573f08957bcca.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/a4edb7e443899bf0.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/aa6abf64a08e8e5c.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/afcfc172e5a1d5f1.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/b1fcd53f7483cba0.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/b7100d510eb167a8.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/bce6441e9ccfa7b3.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/c03f21034a088e5e.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/d2e15f7b71f3da05.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/d9c8114d670e8202.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/e7188588ac1034db.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/e87bb5a0529ccb98.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/e99ec5b19ddbc715.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/f3ece7ca398410cd.m3u8":
            [.isReadable: .throwsException],
        "bluenviron__gohlslib/pkg/playlist/testdata/fuzz/FuzzPlaylistUnmarshal/fb931b61d5d0fdb5.m3u8":
            [.isReadable: .throwsException],
        "carlanton__m3u8-parser/src/test/resources/media/media-playlist-with-date-range.m3u8":
            [.dateRangeCount: .countsDateRangeTags],
        "carlanton__m3u8-parser/src/test/resources/multivariant/multivariant-variables.m3u8":
            [.variants: .variables],
        "carlanton__m3u8-parser/src/test/resources/open-m3u8/negativeDurationMediaPlaylist.m3u8":
            [.targetDuration: .negativeTarget, .duration: .negativeDuration],
        "globocom__go-m3u8/mocks/media/media.m3u8": [.dateRangeCount: .countsDateRangeTags],
        "globocom__go-m3u8/mocks/media/scte35/withAdBreakNewNotReady.m3u8": [.dateRangeCount: .afterLastSegment],
        "globocom__go-m3u8/mocks/media/scte35/withAdBreakNewReady.m3u8": [.dateRangeCount: .afterLastSegment],
        "globocom__go-m3u8/mocks/media/scte35/withCompleteAdBreak.m3u8": [.dateRangeCount: .countsDateRangeTags],
        "globocom__go-m3u8/mocks/multivariant/missingVersion.m3u8": [.isReadable: .throwsException],
        "grafov__m3u8/sample-playlists/master-with-i-frame-stream-inf.m3u8": [.isReadable: .throwsException],
        "iheartradio__open-m3u8/src/test/resources/negativeDurationMediaPlaylist.m3u8": [.duration: .negativeDuration],
        "sethdeckard__m3u8/spec/fixtures/encrypted_discontinuity.m3u8": [.keyCount: .countsMethodNone],
        "sethdeckard__m3u8/spec/fixtures/session_data.m3u8": [.kind: .streamInfOnly],
        "shaka-project__shaka-player/test/test/assets/hls-interstitial/list.m3u8": [.dateRangeCount: .afterLastSegment],
        "shaka-project__shaka-player/test/test/assets/hls-interstitial/main.m3u8": [.dateRangeCount: .afterLastSegment],
        "shaka-project__shaka-player/test/test/assets/hls-svta-2053-2/main.m3u8": [.dateRangeCount: .afterLastSegment],
    ]

    /// The reason for a disagreement.
    enum Reason {
        /// The oracle throws an exception at a value that it cannot parse; a player ignores such a value.
        case throwsException
        /// The oracle accepts any text as an empty playlist; this one contains no line of a playlist.
        case acceptsAnyText
        /// For the oracle, only EXT-X-STREAM-INF makes a multivariant playlist; the tags of this one occur only in
        /// multivariant playlists (RFC 8216bis §4.4.6).
        case streamInfOnly
        /// The oracle counts METHOD=NONE as a key; it means that there is no key (RFC 8216bis §4.4.4.4).
        case countsMethodNone
        /// The oracle counts a key that is replaced before any segment (RFC 8216bis §4.4.4.4).
        case unusedKey
        /// The oracle counts tags; tags with the same ID describe one date range (RFC 8216bis §4.4.5.1).
        case countsDateRangeTags
        /// The oracle drops the date ranges after the last segment; date ranges apply to the timeline and not to a
        /// segment (RFC 8216bis §4.4.5.1).
        case afterLastSegment
        /// The oracle counts the duration of an EXTINF without a URI, which is not a segment (RFC 8216bis §4.4.4.1).
        case extinfWithoutURI
        /// The oracle does not support EXT-X-DEFINE and does not substitute variables (RFC 8216bis §4.3).
        case variables
        /// The oracle adds negative durations, which in other formats mark an endless stream; a duration is never
        /// negative (RFC 8216bis §4.4.4.1).
        case negativeDuration
        /// The oracle accepts a negative target duration; a decimal integer has no sign (RFC 8216bis §4.2).
        case negativeTarget
    }
}
