import Foundation
import HLSPlaylist
import ReportFormat
import SharedCorpus
import Testing

@Suite struct CanonicalTests {
    private func canonical(_ text: String) throws -> String {
        String(decoding: try Playlist.parse(Array(text.utf8)).canonical().bytes, as: UTF8.self)
    }

    @Test func canonicalFormNormalizesMediaPlaylist() throws {
        let text = try canonical(
            "\u{FEFF}\r\n# a comment\r\n#EXTM3U\r\n#EXT-X-MEDIA-SEQUENCE:007\r\n#EXT-X-VERSION: 3 \r\n\r\n"
                + "#EXT-X-KEY: URI = \"k\" , METHOD=AES-128,X=1,IV=\"0x01\"\r\n#EXTINF: 4.500\r\n#EXT-X-TARGETDURATION:5\r\n"
                + "#EXT-X-CUE-OUT:3\r\n#EXT-X-BYTERANGE: 5 @ 6\r\n  a.ts  \r\n#EXT-X-ENDLIST\r\n#EXTINF:4,t\r\nb.ts"
        )
        #expect(
            text == """
                #EXTM3U
                #EXT-X-VERSION:3
                #EXT-X-TARGETDURATION:5
                #EXT-X-MEDIA-SEQUENCE:7
                #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x01,X=1
                #EXT-X-CUE-OUT:3
                #EXT-X-BYTERANGE:5@6
                #EXTINF:4.500,
                a.ts
                #EXTINF:4,t
                b.ts
                #EXT-X-ENDLIST

                """
        )
    }

    @Test func canonicalFormNormalizesMultivariantPlaylist() throws {
        let text = try canonical(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:CODECS=avc1.4d401e,BANDWIDTH="5",NAME="n",NAME="m",CLOSED-CAPTIONS=NONE
            # between
            v.m3u8
            stray.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=9
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-MEDIA:NAME="E",TYPE=AUDIO,GROUP-ID=a
            """
        )
        #expect(
            text == """
                #EXTM3U
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:BANDWIDTH=5,CODECS="avc1.4d401e",CLOSED-CAPTIONS=NONE,NAME="n"
                v.m3u8
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E"

                """
        )
    }

    /// Returns the values of a report without line numbers and diagnostics, with the fields sorted by name.
    private func values(_ report: ReportValue) -> ReportValue {
        switch report {
        case .object(let fields):
            .object(
                fields.filter { !["diagnostics", "line"].contains($0.name) }.sorted { $0.name < $1.name }
                    .map { ReportValue.Field(name: $0.name, value: values($0.value)) }
            )
        case .array(let all): .array(all.map(values))
        case .sequence(let all): .array(all.values.map(values))
        default: report
        }
    }

    /// Checks that the canonical form of a playlist has the same values as the playlist.
    ///
    /// - Returns: A Boolean value that indicates whether the bytes are a playlist; only then are the values compared.
    private func expectSameValues(_ bytes: [UInt8], _ name: String) throws -> Bool {
        guard let playlist = try? Playlist.parse(bytes) else { return false }
        let canonical: Playlist
        do {
            canonical = try playlist.canonical()
        } catch {
            guard error == .unexpectedKind(found: .media) else { throw error }
            // The canonical form of a multivariant playlist without URIs, or of one with tags of both kinds, may
            // contain no tag that identifies it as a multivariant playlist.
            guard case .multivariant(let empty) = playlist else {
                throw PlaylistParsingError.unexpectedKind(found: .media)
            }
            let isOfBothKinds = playlist.diagnostics.contains { $0.code == "mixed-kinds" }
            #expect(isOfBothKinds || empty.variants.allSatisfy(\.uri.isEmpty), "\(name)")
            return true
        }
        #expect(values(canonical.report).json == values(playlist.report).json, "\(name)")
        #expect(try canonical.canonical().bytes == canonical.bytes, "\(name)")
        return true
    }

    @Test func canonicalFormKeepsValuesOfFixtures() throws {
        let fixtures = RuleFixture.all.filter { !$0.isPresentation }
        let compared = try fixtures.filter { try expectSameValues(try $0.bytes($0.file), $0.name) }.count
        #expect(compared > 250 && compared > fixtures.count * 9 / 10, "\(compared) of \(fixtures.count)")
    }

    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func canonicalFormKeepsValuesOfCorpusPlaylists() throws {
        let urls = try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8"])
        let compared = try urls.filter {
            try expectSameValues([UInt8](try Data(contentsOf: $0)), $0.lastPathComponent)
        }.count
        #expect(compared >= 553 && compared >= urls.count - 1, "\(compared) of \(urls.count)")
    }
}
