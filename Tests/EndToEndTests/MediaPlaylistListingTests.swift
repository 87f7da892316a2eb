import Foundation
import TestSamples
import Testing

/// Tests what is listed of an asset whose source is a media playlist.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
final class MediaPlaylistListingTests {
    private let library = FileManager.default.temporaryDirectory.appendingPathComponent("listing-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: library) }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments + ["--library", library.path]).result()
    }

    /// Returns the path of the first variant of a sample stream.
    private func variant(of stream: String) throws -> String {
        let main = try #require(Samples.directory).appendingPathComponent(stream)
        let lines = try String(contentsOf: main, encoding: .utf8).split(separator: "\n")
        let tag = try #require(lines.firstIndex { $0.hasPrefix("#EXT-X-STREAM-INF:") })
        let uri = try #require(lines[tag...].dropFirst().first { !$0.hasPrefix("#") })
        return main.deletingLastPathComponent().appendingPathComponent(String(uri)).path
    }

    /// Downloads a variant, and returns its asset and the table of all assets.
    private func download(_ stream: String) async throws -> (asset: [String: Any], table: String) {
        let added = try await run("download", variant(of: stream), "--quiet")
        #expect(added.status == 0, "\(added.errors)")
        let report = try await run("library", "list", "--json")
        let assets = try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [[String: Any]]
        return (try #require(assets?.first), try await run("library", "list").output)
    }

    @Test func heightIsThatOfTheMedia() async throws {
        let (asset, table) = try await download("fmp4/multivariant.m3u8")
        let stored = try #require((asset["variants"] as? [[String: Any]])?.first)
        let height = try #require(stored["height"] as? Int)
        #expect(table.contains(" \(height)p "), "\(table)")
    }

    /// Transport streams do not declare their resolution.
    @Test func bitRateIsThatOfTheStoredSegments() async throws {
        let (asset, table) = try await download("ts/multivariant.m3u8")
        #expect(table.contains("bit/s "), "\(table)")
        let stored = try #require((asset["variants"] as? [[String: Any]])?.first)
        let bandwidth = try #require(stored["bandwidth"] as? Int)
        let bytes = try #require(asset["bytes"] as? Int)
        let duration = try #require((asset["duration"] as? NSNumber)?.doubleValue)
        #expect(abs(Double(bandwidth) - Double(bytes) * 8 / duration) < 1_000, "\(asset)")
        let shown = try await run("library", "show", try #require(asset["id"] as? String))
        #expect(shown.output.contains("bit/s, "), "\(shown.output)")
    }
}
