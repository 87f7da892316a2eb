import Foundation
import Testing

/// Tests `millstream download` with URLs that are signed anew.
@Suite(.serialized, .tags(.endToEnd), .timeLimit(.minutes(10)))
final class SignedSourceCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("signed-source-\(UUID())")
        .standardizedFileURL

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in [("film.m3u8", playlist), ("0.ts", "zero"), ("1.ts", "one")] {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        let library = folder.appendingPathComponent(".library").path
        return try await RunningProgram(arguments + ["--library", library]).result()
    }

    @Test func assetIsContinuedWithTheNewURL() async throws {
        let origin = try await RecordingOrigin(folder)
        let source = origin.address("film.m3u8")
        let first = try await run("download", "\(source)?token=a&Expires=1")
        #expect(first.status == 0 && !first.errors.contains("is continued"), "\(first.errors)")
        let id = try #require(first.output.split(separator: " ").first.map(String.init))
        origin.clearPaths()
        let second = try await run("download", "\(source)?token=b&Expires=2")
        #expect(second.status == 0 && second.output.hasPrefix(id), "\(second)")
        let note = "the asset \(id) is continued, whose source differs only in its signature: film\n"
        #expect(second.errors.contains(note), "\(second.errors)")
        #expect(!origin.paths.isEmpty && origin.paths.allSatisfy { $0 == "film.m3u8" }, "\(origin.paths)")
        let list = try await run("library", "list", "--json")
        let assets = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        #expect(assets.map { $0["id"] as? String } == [id])
        #expect(assets.first?["source"] as? String == "\(source)?token=b&Expires=2")
        // Another parameter may select another stream.
        let other = try await run("download", "\(source)?token=b&Expires=2&id=5")
        #expect(other.status == 0 && !other.output.hasPrefix(id), "\(other)")
        #expect(!other.errors.contains("is continued"), "\(other.errors)")
        await origin.stop()
    }
}
