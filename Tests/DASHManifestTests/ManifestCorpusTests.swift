import DASHManifest
import Foundation
import SharedCorpus
import Testing

/// Reads every manifest of the corpus and compares the numbers of its parts with those that Python's mpegdash 0.4.1 found.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct ManifestCorpusTests {
    /// The files that are no manifests, each with the reason for which it is refused.
    private static let refusals: [String: String] = [
        "Dash-Industry-Forum__livesim2/cmd/livesim2/app/testdata/assets/testpic_2s/Manifest.mpd": "XML, line 2",
        "Dash-Industry-Forum__livesim2/cmd/livesim2/app/testdata/assets/testpic_2s/Manifest_endNumber.mpd":
            "XML, line 2",
        "Eyevinn__dash-mpd/mpd/testdata/go-dash-fixtures/invalid.mpd": "XML, line 3",
        "Orange-OpenSource__hasplayer.js/test/unit/js/utils/Manifest.mpd": "XML, line 1",
    ]

    @Test func everyManifestIsReadOrRefusedWithItsReason() throws {
        let files = try SharedCorpus.files(below: "corpus/dash", extensions: ["mpd"])
        #expect(files.count >= 450)
        var refusals: [String: String] = [:]
        for file in files {
            let path = try #require(file.path.components(separatedBy: "/corpus/dash/").last)
            do throws(ManifestParsingError) {
                let bytes = [UInt8]((try? Data(contentsOf: file)) ?? Data())
                let presentation = try MediaPresentation(parsing: bytes.span)
                #expect(presentation.periods.isEmpty == path.hasSuffix("go-dash-fixtures/location.mpd"), "\(path)")
            } catch {
                switch error {
                case .invalidXML(_, let line): refusals[path] = "XML, line \(line)"
                case .hasDeclarations, .notAManifest, .tooLarge, .canceled: refusals[path] = "\(error)"
                }
            }
        }
        #expect(refusals == Self.refusals)
    }

    @Test func partsAreThoseThatTheOracleFound() throws {
        let lines = try SharedCorpus.bytes("corpus/oracle_mpegdash_webvttpy.jsonl").split(separator: UInt8(ascii: "\n"))
        var compared = 0
        for line in lines {
            let record = try JSONDecoder().decode(Record.self, from: Data(line))
            guard record.path.hasPrefix("dash/"), record.mpegdash == "ok", let periods = record.periods,
                !record.path.hasSuffix(".mpp"), !record.path.hasSuffix(".ism")
            else { continue }
            let bytes = try SharedCorpus.bytes("corpus/\(record.path)")
            let presentation = try MediaPresentation(parsing: bytes.span)
            let ours = presentation.periods.map { period in
                Record.Parts(
                    adaptationSets: period.adaptationSets.count,
                    representations: period.adaptationSets.reduce(0) { $0 + $1.representations.count }
                )
            }
            #expect(ours == periods, "\(record.path)")
            compared += 1
        }
        #expect(compared >= 435)
    }

    private struct Record: Decodable {
        let path: String
        let mpegdash: String?
        let periods: [Parts]?

        struct Parts: Decodable, Equatable {
            let adaptationSets: Int
            let representations: Int
        }
    }
}
