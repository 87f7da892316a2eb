import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests of the bounds of edits: default limits, greatest values, and lists.
@Suite struct EditBoundTests {
    @Test func defaultLimitsAreThoseOfTheDocumentation() {
        let limits = EditLimits()
        #expect(limits.loadedBytes == ByteCount(33_554_432) && limits.resultBytes == ByteCount(67_108_864))
        #expect(limits.entries == 200_000 && limits.edits == 16 && limits.sources == 16)
    }

    @Test func wordsOfListsAreUnique() throws {
        #expect(try PlaylistEdit(name: "audio-languages", value: "en,ko,en").nameAndValue.value == "en,ko")
        // Repeated words do not count toward the maximum of 32.
        let repeated = Array(repeating: "en", count: 33).joined(separator: ",")
        #expect(try PlaylistEdit(name: "audio-languages", value: repeated).nameAndValue.value == "en")
    }

    @Test(arguments: ["...65536x1", "...1x65536", "65536x1...", "1x65536..."])
    func sizesHaveAtMost65535Pixels(value: String) throws {
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: "resolution", value: value) }
        let greatest = value.replacing("65536", with: "65535")
        #expect(try PlaylistEdit(name: "resolution", value: greatest).nameAndValue.value == greatest)
    }

    @Test func sessionKeysAreRelocatedOrRemoved() throws {
        let text = """
            #EXTM3U
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="one",KEYFORMAT="identity"
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="two"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v.m3u8

            """
        let source = try MultivariantPlaylist(parsing: Array(text.utf8))
        let moved = try source.relocated(
            variant: { _ in "v.m3u8" },
            rendition: { _ in nil },
            sessionKey: { $0.uri == "one" ? "keys/1" : nil }
        )
        let lines = String(decoding: moved.bytes, as: UTF8.self).split(separator: "\n")
        #expect(
            lines == [
                "#EXTM3U", #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="keys/1",KEYFORMAT="identity""#,
                "#EXT-X-STREAM-INF:BANDWIDTH=1", "v.m3u8",
            ]
        )
        let without = try source.relocated(variant: { _ in "v.m3u8" }, rendition: { _ in nil })
        #expect(without.sessionKeys.isEmpty)
    }
}
