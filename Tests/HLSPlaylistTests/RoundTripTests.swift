import Foundation
import HLSPlaylist
import ReportFormat
import SeededRandomness
import SharedCorpus
import Testing

@Suite struct RoundTripTests {
    /// Checks that parsing returns the same bytes and that no property traps.
    ///
    /// Bytes that are not a playlist are ignored; the tests of files check how many those may be.
    private func expectRoundTrip(_ bytes: [UInt8], _ name: String) {
        guard let playlist = try? Playlist.parse(bytes) else { return }
        #expect(playlist.bytes == bytes, "\(name)")
        #expect(!playlist.report.json.isEmpty)
        #expect(playlist.addresses.allSatisfy { $0.role != .segment || !$0.uri.isEmpty }, "\(name)")
    }

    @Test(arguments: [
        "#EXTM3U\r\n#EXTINF:4,\r\na.ts\n#EXT-X-ENDLIST",
        "\u{FEFF}#EXTM3U\n\n\n#EXTINF:4.5 , title , more\n  a.ts \t\n",
        "# comment\n#EXTM3U\n#EXT-X-UNKNOWN:A=1,B=\"x\n#EXTINF:\nb.ts",
        "#EXTM3U", "#EXTM3U\n", "#EXTINF:4\na.ts\n#EXTINF:4\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\n",
        "#EXTM3U\n#EXT-X-STREAM-INF:\n\n\nx.m3u8\n#EXT-X-MEDIA:TYPE=\n",
        "#EXTM3U\n#EXT-X-BYTERANGE:\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:99999999999999999999@1\n#EXTINF:1,\nb",
    ])
    func malformedPlaylistsRoundTripByteForByte(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try Playlist.parse(bytes).bytes == bytes)
        expectRoundTrip(bytes, text)
    }

    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func corpusFilesRoundTripByteForByte() throws {
        let files = try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8"])
        var refused: [String] = []
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            if (try? Playlist.parse(bytes)) == nil { refused.append(file.lastPathComponent) }
            expectRoundTrip(bytes, file.path)
        }
        #expect(files.count >= 554 && refused.count <= 1, "refused: \(refused)")
    }

    @Test func damagedPlaylistsNeverTrap() throws {
        var generator = SeededGenerator(seed: 7)
        let source = Array(Fixtures.everything.utf8)
        for _ in 0..<400 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(contentsOf: [0x39, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39], at: at)
                default: bytes.replaceSubrange(at..<min(at + 20, bytes.count), with: [0x0A])
                }
            }
            expectRoundTrip(bytes, "damaged")
        }
    }
}
