import Foundation
import HLSPlaylist
import ResourceAddressing
import SharedCorpus
import Testing

/// Tests of how lenient parsing handles playlists that deviate from the standard, and of the diagnostics that report
/// it.
@Suite struct QuirkTests {
    @Test(arguments: Quirk.all)
    func quirkHasExpectedResult(quirk: Quirk) throws {
        let context = PlaylistContext(address: ResourceAddress("https://h/p/list.m3u8"))
        let playlist = try Playlist.parse(quirk.bytes, context: context)
        #expect(PlaylistReading(playlist).lines == quirk.reading)
        let named = playlist.diagnostics.map { "\($0.line.map { "\($0) " } ?? "")\($0.code)" }
        #expect(named.sorted() == quirk.diagnostics.sorted())
        #expect(playlist.bytes == quirk.bytes)
    }

    /// A quirk that is added to the corpus requires a test case here.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func everyCorpusQuirkHasATestCase() throws {
        let found = try CorpusQuirk.all()
        let known = Set(Quirk.all.flatMap(\.kinds))
        #expect(found.count >= 600)
        #expect(Set(found.map(\.kind)).subtracting(known) == [])
        #expect(known.subtracting(found.map(\.kind)) == [], "spelled otherwise than in the corpus")
    }

    /// The diagnostics that report a quirk in its test case also report it in the files of the corpus.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func corpusQuirksAreReported() throws {
        var codes: [String: Set<String>] = [:]
        for quirk in Quirk.all { for kind in quirk.kinds { codes[kind, default: []].formUnion(quirk.codes) } }
        var checked = 0
        for found in try CorpusQuirk.all() {
            guard let codes = codes[found.kind], !codes.isEmpty,
                let playlist = try? Playlist.parse(SharedCorpus.bytes("corpus/" + found.path))
            else { continue }
            let isNamed = playlist.diagnostics.contains {
                codes.contains($0.code) && (found.line == nil || $0.line == nil || $0.line == found.line)
                    // In a playlist of both kinds, tags of the other kind are reported as such.
                    || $0.code == "mixed-kinds"
            }
            #expect(isNamed, "\(found.path): \(found.kind) in line \(found.line ?? 0), but none of \(codes.sorted())")
            checked += 1
        }
        #expect(checked >= 195)
    }

    @Test(arguments: ["", " ", "\n\n \t\r\n", "\u{FEFF}"])
    func emptyFileIsRejected(text: String) {
        #expect(throws: PlaylistParsingError.self) { try Playlist.parse(Array(text.utf8)) }
    }
}

/// A row of the list of quirks in the corpus.
private struct CorpusQuirk {
    let path: String
    let kind: String
    /// The line number that the list gives as evidence.
    let line: Int?

    static func all() throws -> [CorpusQuirk] {
        let text = String(decoding: try SharedCorpus.bytes("corpus/QUIRKS.tsv"), as: UTF8.self)
        return text.split(separator: "\n").dropFirst().compactMap { row in
            let columns = row.split(separator: "\t", omittingEmptySubsequences: false)
            guard columns.count == 3, columns[0].hasPrefix("hls/") else { return nil }
            let line = columns[2].firstMatch(of: /^L(\d+)/).flatMap { Int($0.output.1) }
            return CorpusQuirk(path: String(columns[0]), kind: String(columns[1]), line: line)
        }
    }
}
