import Foundation
import MediaTiming
import SharedCorpus
import Testing

@testable import SegmentFormat

/// Compares WebVTT files of the corpus with the results of other parsers.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED is not set"))
struct WebVTTCorpusTests {
    struct Expected: Decodable {
        struct Cue: Decodable {
            let id: String
            let startTime: Double
            let endTime: Double
            let text: String
            let align: String
            let vertical: String
            let size: Double
        }
        let cues: [Cue]
    }

    static func document(_ url: URL) throws -> WebVTTDocument {
        let bytes = [UInt8](try Data(contentsOf: url))
        return try WebVTTDocument(bytes.span)
    }

    @Test func cuesEqualThoseOfVTTJS() throws {
        var compared = 0
        let files = try SharedCorpus.files(below: "corpus/vtt/mozilla__vtt.js/tests", extensions: ["vtt"])
        for file in files {
            let result = file.deletingPathExtension().appendingPathExtension("json")
            guard let data = try? Data(contentsOf: result) else { continue }
            let expected = try JSONDecoder().decode(Expected.self, from: data)
            let document = try Self.document(file)
            let name = Comment(rawValue: file.lastPathComponent)
            compared += 1
            #expect(document.cues.map(\.id) == expected.cues.map(\.id), name)
            #expect(document.cues.map(\.text) == expected.cues.map(\.text), name)
            #expect(document.cues.map(\.timeRange.start.seconds) == expected.cues.map(\.startTime), name)
            #expect(
                document.cues.map(\.timeRange.end.seconds) == expected.cues.map { max($0.endTime, $0.startTime) },
                name
            )
            let aligned = expected.cues.map { $0.align == "middle" ? "center" : $0.align }
            #expect(document.cues.map(\.settings.alignment.rawValue) == aligned, name)
            #expect(document.cues.map(\.settings.direction.rawValue) == expected.cues.map(\.vertical), name)
            #expect(document.cues.map(\.settings.size) == expected.cues.map(\.size), name)
        }
        #expect(compared > 80)
    }

    @Test func cueTextEqualsThatOfVTTJS() throws {
        var compared = 0
        for file in try SharedCorpus.files(below: "corpus/vtt/mozilla__vtt.js/tests/cuetext", extensions: ["vtt"]) {
            let result = file.deletingPathExtension().path + "-proc.json"
            guard let data = FileManager.default.contents(atPath: result) else { continue }
            struct Box: Decodable {
                let textContent: String
            }
            guard let expected = try? JSONDecoder().decode([Box].self, from: data) else { continue }
            let document = try Self.document(file)
            compared += 1
            let texts = document.cues.map { $0.nodes.map(\.plainText).joined() }
            #expect(texts == expected.map(\.textContent), Comment(rawValue: file.lastPathComponent))
        }
        #expect(compared > 30)
    }

    @Test func timesEqualThoseOfWebVTTPy() throws {
        struct Line: Decodable {
            let path: String
            let kind: String
            let cues: [[String?]]?
        }
        var compared = 0
        let lines = try SharedCorpus.bytes("corpus/oracle_mpegdash_webvttpy.jsonl").split(separator: UInt8(ascii: "\n"))
        for line in lines {
            guard let expected = try? JSONDecoder().decode(Line.self, from: Data(line)), expected.kind == "vtt",
                let cues = expected.cues
            else { continue }
            // The other parser accepts fractions of any length; the standard accepts exactly three digits.
            guard !expected.path.hasSuffix("/fraction-digits.vtt") else { continue }
            let document = try Self.document(SharedCorpus.url("corpus/" + expected.path))
            compared += 1
            let starts = document.cues.map(\.timeRange.start)
            let others = cues.compactMap { cue in
                cue.first.flatMap { $0 }.flatMap { text in
                    var scanner = WebVTTScanner(text)
                    return scanner.timestamp()
                }
            }
            #expect(starts == others, Comment(rawValue: expected.path))
        }
        #expect(compared > 50)
    }
}
