import SegmentFormat
import Testing

/// Tests the tracks of a file, of which its index and its media know different properties.
@Suite struct MediaTrackCombinationTests {
    @Test func tracksWithTheSameIdentifiersAreOne() {
        let listed = [
            MediaTrack(id: 1, mediaType: .video, codec: "avc1"),
            MediaTrack(id: 2, mediaType: .audio, codec: "mp4a.40.2", language: "en"),
            MediaTrack(id: 3, mediaType: .audio, codec: "mp4a.40.2", language: "ko"),
        ]
        let measured = [
            MediaTrack(id: 3, mediaType: .audio, codec: "aac", language: "kor", channelCount: 6),
            MediaTrack(id: 1, mediaType: .video, codec: "avc1.64001e", width: 640, height: 360),
        ]
        #expect(
            MediaTrack.combining(listed: listed, measured: measured) == [
                MediaTrack(id: 1, mediaType: .video, codec: "avc1.64001e", width: 640, height: 360),
                listed[1],
                MediaTrack(id: 3, mediaType: .audio, codec: "mp4a.40.2", language: "ko", channelCount: 6),
            ]
        )
    }

    /// FFmpeg names the formats of subtitles in Matroska files differently.
    @Test(arguments: [("S_TEXT/UTF8", "subrip"), ("S_TEXT/ASS", "ass"), ("S_TEXT/WEBVTT", "webvtt")])
    func subtitlesKeepTheFormatOfTheIndex(listed: String, measured: String) throws {
        let tracks = MediaTrack.combining(
            listed: [MediaTrack(id: 1, mediaType: .subtitles, codec: listed, language: "en")],
            measured: [MediaTrack(id: 1, mediaType: .subtitles, codec: measured, language: "eng")]
        )
        #expect(tracks == [MediaTrack(id: 1, mediaType: .subtitles, codec: listed, language: "en")])
        let track = try #require(tracks.first)
        #expect(FileSubtitleFormat(track, in: .matroska) != nil)
    }

    /// FFmpeg numbers the streams of some containers itself.
    @Test func tracksWithOtherIdentifiersAreMatchedInTheirOrder() {
        let listed = [
            MediaTrack(id: 1, mediaType: .video), MediaTrack(id: 2, mediaType: .audio, codec: "fLaC", language: "de"),
            MediaTrack(id: 3, mediaType: .audio, codec: "Opus"),
        ]
        let measured = [
            MediaTrack(id: 0, mediaType: .video, width: 64, height: 36),
            MediaTrack(id: 1, mediaType: .audio, codec: "flac", sampleRate: 44_100),
            MediaTrack(id: 2, mediaType: .audio, codec: "opus", sampleRate: 48_000),
            MediaTrack(id: 3, mediaType: .subtitles),
        ]
        #expect(
            MediaTrack.combining(listed: listed, measured: measured) == [
                MediaTrack(id: 1, mediaType: .video, width: 64, height: 36),
                MediaTrack(id: 2, mediaType: .audio, codec: "fLaC", language: "de", sampleRate: 44_100),
                MediaTrack(id: 3, mediaType: .audio, codec: "Opus", sampleRate: 48_000),
                MediaTrack(id: 3, mediaType: .subtitles),
            ]
        )
        #expect(MediaTrack.combining(listed: [], measured: measured) == measured)
    }

    @Test(
        arguments: [
            ("avc1", [1, 0x64, 0, 0x1E, 0xFF], "avc1.64001e"),
            // The bytes of a byte stream, and a configuration that is too short.
            ("avc1", [0, 0, 0, 1, 0x67, 0x64, 0, 0x1E], nil), ("avc1", [1, 0x64, 0], nil),
            ("av01", [0x81, 0x04, 0x0C, 0x00], "av01.0.04M.08"), ("mp4a", [0x11, 0x90], "mp4a.40.2"),
            ("vp09", [1, 2], nil),
        ] as [(FourCharacterCode, [UInt8], String?)]
    )
    func configurationsHaveRFC6381Strings(_ format: FourCharacterCode, _ bytes: [UInt8], _ codec: String?) {
        #expect(DecoderConfiguration.codec(format, bytes.span) == codec)
    }
}
