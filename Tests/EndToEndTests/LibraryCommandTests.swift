import Foundation
import Testing

/// Tests the commands that manage downloaded assets, with a small presentation that is made here.
@Suite(.serialized, .tags(.endToEnd))
final class LibraryCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-command-\(UUID())")
        .standardizedFileURL
    private var library: String { folder.appendingPathComponent("library").path }
    private var film: URL { folder.appendingPathComponent("Film") }

    init() throws {
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="audio/media.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a"
            low/media.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="a"
            high/media.m3u8

            """
        try write(main, "multivariant.m3u8")
        for name in ["low", "high", "audio"] {
            let segments = (0..<3).map { "#EXTINF:30,\n\($0).ts\n" }.joined()
            try write("#EXTM3U\n#EXT-X-TARGETDURATION:30\n\(segments)#EXT-X-ENDLIST\n", "\(name)/media.m3u8")
            for number in 0..<3 {
                try write(String(repeating: "\(name)\(number) ", count: 2_000), "\(name)/\(number).ts")
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, _ path: String) throws {
        let file = film.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(["library"] + arguments + ["--library", library]).result()
    }

    /// Adds the presentation and returns its identifier.
    private func add() async throws -> String {
        let added = try await run("add", film.path)
        #expect(added.status == 0, "\(added.errors)")
        return try #require(added.output.split(separator: " ").first.map(String.init))
    }

    private func json(_ arguments: String...) async throws -> [[String: Any]] {
        let program = try RunningProgram(["library"] + arguments + ["--json", "--library", library])
        _ = try await program.finish()
        return try #require(JSONSerialization.jsonObject(with: program.outputData) as? [[String: Any]])
    }

    /// Each command for one asset accepts the same references.
    @Test(.timeLimit(.minutes(10))) func sourceNamesAnAsset() async throws {
        let id = try await add()
        let source = try #require(try await json("list").first?["source"] as? String)
        let package = library + "/packages/" + id
        for reference in [id, source, package] {
            #expect(try await run("path", reference).output == package + "\n", "\(reference)")
            #expect(try await run("verify", reference).output == "\(id)  OK\n", "\(reference)")
            #expect(try await run("repair", reference).output == "\(id)  OK\n", "\(reference)")
        }
        let shrunk = try await run("shrink", source, "--max-height", "360")
        #expect(shrunk.status == 0 && shrunk.output.hasPrefix("\(id)  removed "), "\(shrunk)")
        for command in ["path", "verify", "repair"] {
            let unknown = try await run(command, "https://example.com/none.m3u8")
            #expect(unknown.status == 1 && unknown.errors.contains("has no asset with the source"), "\(unknown)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func assetsAreListedAsATable() async throws {
        let id = try await add()
        let list = try await run("list")
        #expect(list.status == 0, "\(list.errors)")
        let lines = list.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 3 && lines.last?.hasPrefix("1 asset, ") == true, "\(list.output)")
        let header = lines[0].split(separator: " ").map(String.init)
        #expect(header == ["ID", "title", "state", "length", "quality", "languages", "size", "date"])
        let row = lines[1].split(separator: " ").map(String.init)
        let expected: [String] = [id, "Film", "complete", "01:30", "360p...720p", "en"]
        #expect(Array(row.prefix(6)) == expected)
        #expect(row.last?.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil)
        let asset = try #require(try await json("list").first)
        #expect(asset["id"] as? String == id && asset["created"] is String)
        let package = library + "/packages/" + id
        #if os(Linux)
        let du = try RunningProgram(["-s", "--block-size=1", package], of: URL(fileURLWithPath: "/usr/bin/du"))
        #expect(try await du.finish() == 0)
        #expect(try asset["diskBytes"] as? Int == Int(#require(du.standardOutput.split(separator: "\t").first)))
        #endif
        let show = try await run("show", id)
        for text in [
            "Film\n", "source     ", "state      complete, playable offline", package, "720p", "audio      en",
        ] {
            #expect(show.output.contains(text), "\(show.output)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func damagedFilesAreRepairedFromTheSource() async throws {
        let id = try await add()
        let package = URL(fileURLWithPath: library + "/packages/" + id)
        try Data("x".utf8).write(to: package.appendingPathComponent("variant-0/000001.ts"))
        try FileManager.default.removeItem(at: package.appendingPathComponent("audio-0/000002.ts"))
        let repaired = try await run("repair", id)
        #expect(repaired.status == 0, "\(repaired.errors)")
        #expect(
            repaired.output
                == "\(id)  2 of 2 missing or damaged files replaced\n  variant-0/000001.ts\n  audio-0/000002.ts\n"
        )
        #expect(try await run("verify").output == "\(id)  OK\n")
        #expect(try await run("repair").output == "\(id)  OK\n")
        try FileManager.default.removeItem(at: package.appendingPathComponent("variant-0/000001.ts"))
        try FileManager.default.removeItem(at: film.appendingPathComponent("low/1.ts"))
        let failed = try await run("repair", "unknown", id)
        #expect(failed.status == 1 && failed.output.contains("000001.ts (still missing)"), "\(failed)")
        #expect(
            failed.errors.contains("no asset unknown (not-found)") && failed.errors.contains("low/1.ts does not exist")
        )
    }

    /// Content that the library has already is stored once, and does not count as added.
    @Test(.timeLimit(.minutes(10))) func importSaysWhatItAddsToTheDisk() async throws {
        let first = try await run("add", film.path)
        #expect(first.status == 0 && !first.output.contains("added"), "\(first)")
        let copy = folder.appendingPathComponent("Copy")
        try FileManager.default.copyItem(at: film, to: copy)
        try Data(String(repeating: "other ", count: 5_000).utf8).write(to: copy.appendingPathComponent("low/0.ts"))
        let program = try RunningProgram(["library", "add", copy.path, "--json", "--library", library])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        let asset = try #require(JSONSerialization.jsonObject(with: program.outputData) as? [String: Any])
        let id = try #require(asset["id"] as? String)
        let bytes = try #require(asset["bytes"] as? Int)
        let added = try #require(asset["addedBytes"] as? Int)
        // Eight of nine segments are shared; the ninth, the playlists and the folders are not.
        #expect(added >= 30_000 && added < bytes, "\(added) of \(bytes)")
        #expect(try await run("delete", id).status == 0)
        let again = try await run("add", copy.path)
        #expect(again.output.contains(" added to the disk\n"), "\(again)")
    }

    @Test(.timeLimit(.minutes(10))) func limitsAreStoredAndShown() async throws {
        let id = try await add()
        let none = try await run("limits")
        #expect(none.status == 0 && none.output.hasPrefix("quota           none\nmin free space  none\n"), "\(none)")
        #expect(try await run("limits", "--quota", "50G", "--min-free-space", "1k").status == 0)
        let program = try RunningProgram(["library", "limits", "--json", "--library", library])
        #expect(try await program.finish() == 0)
        #expect(program.standardOutput.hasPrefix(#"{"quota":50000000000,"minimumFreeSpace":1000,"used":"#))
        let list = try await run("list")
        #expect(list.output.contains(" of at most 50.0 GB"), "\(list.output)")
        // The stored limits are those of an eviction.
        #expect(try await run("evict").output.hasPrefix("0 assets deleted"))
        #expect(try await run("limits", "--quota", "1", "--min-free-space", "none").status == 0)
        let planned = try await run("evict", "--dry-run")
        #expect(planned.output.hasPrefix("\(id)  ") && planned.output.contains("1 asset to delete"), "\(planned)")
        let other = try await run("evict", "--dry-run", "--quota", "50G")
        #expect(other.status == 0 && other.output.hasPrefix("0 assets to delete"), "\(other)")
        #expect(try await run("limits", "--quota", "much").status == 64)
        #expect(try await run("limits", "--quota", "none").output.hasPrefix("quota           none\n"))
    }

    /// A need that cannot be satisfied is told apart from a library in which nothing can be deleted.
    @Test(.timeLimit(.minutes(10))) func evictionThatIsNotEnoughNamesWhatItWouldDelete() async throws {
        let id = try await add()
        // More than any disk has.
        let need = ["--dry-run", "--need", "900000000000000000"]
        let planned = try await run("evict", need[0], need[1], need[2])
        #expect(planned.status == 1 && planned.output.hasPrefix("0 assets to delete"), "\(planned)")
        #expect(planned.output.contains("\n1 asset not deleted, "), "\(planned)")
        #expect(planned.output.contains("\n\(id)  "), "\(planned)")
        #expect(planned.errors.contains("deleting all assets that can be deleted would not be enough"), "\(planned)")
        #expect(try await run("policy", id, "--pin").status == 0)
        let pinned = try await run("evict", need[0], need[1], need[2])
        #expect(pinned.status == 1 && !pinned.output.contains("not deleted"), "\(pinned)")
        #expect(pinned.errors.contains("no asset can be deleted to make "), "\(pinned)")
    }

    /// A download deletes what has expired, and what the limits of the library require.
    @Test(.timeLimit(.minutes(10))) func downloadNamesWhatItDeletes() async throws {
        let id = try await add()
        #expect(try await run("policy", id, "--expires", "2001-01-31T00:00:00Z").status == 0)
        try write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n", "low/short.m3u8")
        let source = film.appendingPathComponent("low/short.m3u8").path
        let listed = try await run("list")
        #expect(listed.output.contains(id), "a listing deletes nothing")
        let program = try RunningProgram(["download", source, "--library", library])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(program.standardError.contains("deleted Film, because it has expired ("), "\(program.standardError)")
        let assets = try await json("list")
        #expect(assets.count == 1 && assets.first?["id"] as? String != id)
    }

    @Test(.timeLimit(.minutes(10))) func artworkOfADownloadIsShown() async throws {
        try write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n", "low/short.m3u8")
        let source = film.appendingPathComponent("low/short.m3u8").path
        let image = folder.appendingPathComponent("image").path
        let arguments = ["download", source, "--artwork", image, "--library", library]
        try Data("text".utf8).write(to: URL(fileURLWithPath: image))
        let refused = try await RunningProgram(arguments).result()
        let message = "millstream: error: \(image) is not a PNG, JPEG, GIF or WebP image (unsupported-artwork)\n"
        #expect(refused.status == 2 && refused.errors == message, "\(refused)")
        let unnamed = try await RunningProgram(["download", source, "--artwork", "", "--library", library]).result()
        #expect(unnamed.status == 64 && unnamed.errors.contains("--artwork must be the path of an image"), "\(unnamed)")
        let missing = try await RunningProgram([
            "download", source, "--artwork", image + ".png", "--library", library,
        ]).result()
        let unreadable = "millstream: error: the file \(image).png cannot be read ("
        #expect(missing.status == 2 && missing.errors.hasPrefix(unreadable), "\(missing)")
        try Data(Array("GIF89a".utf8) + [1, 0, 1, 0]).write(to: URL(fileURLWithPath: image))
        let downloaded = try await RunningProgram(arguments).result()
        #expect(downloaded.status == 0, "\(downloaded)")
        let asset = try #require(try await json("list").first)
        #expect(asset["artwork"] as? String == "image/gif")
        let shown = try await run("show", try #require(asset["id"] as? String))
        #expect(shown.output.contains("artwork    image/gif\n"), "\(shown)")
    }

    @Test(.timeLimit(.minutes(10))) func unknownFilesAreNamedAndRemovedOnRequest() async throws {
        let id = try await add()
        let stray = URL(fileURLWithPath: library + "/packages/\(id)/notes.txt")
        try Data("x".utf8).write(to: stray)
        #expect(try await run("verify").output == "\(id)  OK\n  notes.txt (unknown)\n")
        #expect(try await run("verify", "--json").output.contains(#""unknown":["notes.txt"]"#))
        #expect(FileManager.default.fileExists(atPath: stray.path))
        #expect(try await run("verify", "--remove-unknown").output == "\(id)  OK\n  notes.txt (unknown, removed)\n")
        #expect(try await run("verify").output == "\(id)  OK\n")
        #expect(!FileManager.default.fileExists(atPath: stray.path))
    }

    /// An argument that names no asset does not hide the results of the others.
    @Test(.timeLimit(.minutes(10))) func allArgumentsOfAVerificationAreTried() async throws {
        let id = try await add()
        let intact = try await run("verify", "nope", id, "--json")
        #expect(intact.status == 1 && intact.errors.contains("no asset nope (not-found)"), "\(intact.errors)")
        let report = #"[{"id":"\#(id)","state":"complete","lost":[],"withoutChecksum":0}]"#
        #expect(intact.output == report + "\n")
        let file = URL(fileURLWithPath: library + "/packages/\(id)/variant-0/000001.ts")
        try Data("x".utf8).write(to: file)
        let damaged = try await run("verify", id, "nope")
        #expect(damaged.status == 1, "\(damaged)")
        #expect(damaged.output == "\(id)  1 file missing or damaged\n  variant-0/000001.ts\n")
        #expect(damaged.errors.contains("(not-found)") && damaged.errors.contains("(package-damaged)"), "\(damaged)")
        let repaired = try await run("repair", id)
        #expect(repaired.output == "\(id)  1 of 1 missing or damaged file replaced\n  variant-0/000001.ts\n")
    }

    /// The advice of the messages after the loss of the catalog is followed literally.
    @Test(.timeLimit(.minutes(10))) func packagesOfALostCatalogAreAddedAgain() async throws {
        let id = try await add()
        for name in ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: "\(library)/\(name)")
        }
        for command in ["list", "show"] {
            let lost = try await (command == "show" ? run(command, id) : run(command))
            #expect(lost.status == 1 && lost.errors.contains("its catalog is lost (library-failed)"), "\(lost)")
            #expect(lost.errors.contains("millstream library verify"))
        }
        let verified = try await run("verify")
        #expect(verified.status == 0 && verified.errors.contains("add '\(library)/recovered/NAME'"), "\(verified)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: library + "/recovered") == [id])
        let added = try await run("add", "\(library)/recovered/\(id)")
        #expect(added.status == 0, "\(added.errors)")
        #expect(try await run("list").output.contains("1 asset, "))
        #expect(try await run("verify").output.hasSuffix("  OK\n"))
    }

    @Test(.timeLimit(.minutes(10))) func variantsAreRemoved() async throws {
        let id = try await add()
        let refused = try await run("shrink", id, "--max-height", "100")
        #expect(
            refused.status == 1 && refused.errors.contains("640x360 900 kbit/s, 1280x720 3 Mbit/s (nothing-left)"),
            "\(refused)"
        )
        #expect(try await run("shrink", id).status == 64)
        let shrunk = try await run("shrink", id, "--max-height", "360")
        #expect(
            shrunk.status == 0 && shrunk.output.hasPrefix("\(id)  removed variant 720p 3 Mbit/s; freed "),
            "\(shrunk)"
        )
        #expect(!FileManager.default.fileExists(atPath: library + "/packages/\(id)/variant-1"))
        #expect(try await run("verify").output == "\(id)  OK\n")
        #expect(try await run("list").output.contains("  360p "))
        let again = try await run("shrink", id, "--max-height", "360")
        #expect(again.output == "\(id)  nothing is removed: all variants are within the limit\n", "\(again)")
        let report = try await run("shrink", id, "--max-height", "360", "--json")
        #expect(report.output.contains(#""outcome":"within-limit""#), "\(report)")
    }

    @Test(.timeLimit(.minutes(10))) func allArgumentsOfADeletionAreTried() async throws {
        let first = try await add()
        let exported = folder.appendingPathComponent("exported")
        #expect(try await run("export", first, exported.path).status == 0)
        #expect(try await run("add", exported.path, "--title", "Copy").status == 0)
        #expect(try await run("add", film.appendingPathComponent("low/media.m3u8").path).status == 0)
        let ids = try await json("list").compactMap { $0["id"] as? String }
        #expect(ids.count == 3)
        let copy = try #require(ids.first { $0 != first && ids.last == first })
        let source = film.appendingPathComponent("low/media.m3u8").path
        let deleted = try await run("delete", "nope", "packages/\(first)", source, "/nowhere/\(copy)")
        #expect(deleted.status == 1)
        #expect(deleted.output.split(separator: "\n").count == 2, "\(deleted)")
        #expect(deleted.errors.contains("no asset nope (not-found)") && deleted.errors.contains("/nowhere/"))
        let rest = try await json("list").compactMap { $0["title"] as? String }
        #expect(rest == ["Copy"])
        let again = try await run("delete", library + "/packages/\(first)")
        #expect(again.status == 0, "\(again.errors)")
        #expect(try await run("delete", first).status == 1)
    }

    @Test(.timeLimit(.minutes(10))) func exportedFolderIsAddedWithTheSameMedia() async throws {
        let first = try await add()
        let exported = folder.appendingPathComponent("exported")
        #expect(try await run("export", first, exported.path).status == 0)
        let added = try await run("add", exported.path)
        let second = try #require(added.output.split(separator: " ").first.map(String.init))
        for id in [first, second] {
            let program = try RunningProgram([
                "play", library + "/packages/\(id)", "--no-decode", "--speed", "max", "--metrics", "-",
            ])
            #expect(try await program.finish() == 0, "\(program.standardError)")
            #expect(program.standardOutput.contains("\"watchedDuration\":90"), "\(program.standardOutput)")
        }
        for path in ["multivariant.m3u8", "variant-1/media.m3u8", "variant-1/000002.ts", "audio-0/000000.ts"] {
            let contents = [first, second].map {
                FileManager.default.contents(atPath: library + "/packages/\($0)/\(path)")
            }
            #expect(contents[0] != nil && contents[0] == contents[1], "\(path)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func missingSegmentIsNamedAndNothingIsAdded() async throws {
        try FileManager.default.removeItem(at: film.appendingPathComponent("high/1.ts"))
        let failed = try await run("add", film.path)
        #expect(failed.status == 1 && failed.errors.contains("high/1.ts does not exist"), "\(failed)")
        #expect(try await json("list").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: library + "/packages").isEmpty)
        let missing = try await run("add", folder.appendingPathComponent("nowhere").path)
        #expect(missing.status == 1 && missing.errors.contains("(file-not-found)"), "\(missing)")
    }

    /// The total is less than the sum of the sizes if assets share files, and the line says so.
    @Test(.timeLimit(.minutes(10))) func totalOfSharedFilesIsExplained() async throws {
        _ = try await add()
        let alone = try await run("list")
        #expect(alone.output.hasSuffix("B\n") && !alone.output.contains("less than the sum"), "\(alone.output)")
        let copy = folder.appendingPathComponent("Copy")
        try FileManager.default.copyItem(at: film, to: copy)
        #expect(try await run("add", copy.path).status == 0)
        let both = try await run("list")
        let end = try #require(both.output.split(separator: "\n").last)
        #expect(
            end.wholeMatch(of: /2 assets, .*B \(.*B less than the sum, because files that assets share count once\)/)
                != nil,
            "\(both.output)"
        )
    }
}
