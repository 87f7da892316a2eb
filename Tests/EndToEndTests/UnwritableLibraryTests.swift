import Foundation
import Testing

/// Tests that assets of a library are played that the user may not change.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled("modes do not restrict this user, and setpriv cannot take the capability away") {
        try await UnprivilegedProgram.isSupported()
    }
)
final class UnwritableLibraryTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("unwritable-\(UUID())")
        .standardizedFileURL
    private var library: URL { folder.appendingPathComponent("library") }
    private var film: URL { folder.appendingPathComponent("Film") }

    init() throws {
        try FileManager.default.createDirectory(at: film, withIntermediateDirectories: true)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in [("film.m3u8", playlist), ("0.ts", "zero"), ("1.ts", "one")] {
            try Data(text.utf8).write(to: film.appendingPathComponent(name))
        }
    }

    deinit {
        try? setModes(folder: 0o700, file: 0o600)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Sets the modes of everything in the library.
    private func setModes(folder folderMode: Int, file fileMode: Int) throws {
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: library.path)
        for path in try files.subpathsOfDirectory(atPath: library.path).sorted().reversed() {
            let item = library.appendingPathComponent(path).path
            let isFolder = try files.attributesOfItem(atPath: item)[.type] as? FileAttributeType == .typeDirectory
            try files.setAttributes([.posixPermissions: isFolder ? folderMode : fileMode], ofItemAtPath: item)
        }
        try files.setAttributes([.posixPermissions: folderMode], ofItemAtPath: library.path)
    }

    /// The paths, the sizes and the modes of everything in the library.
    private func content() throws -> [String] {
        let keys: [FileAttributeKey] = [.size, .posixPermissions]
        return try FileManager.default.subpathsOfDirectory(atPath: library.path).sorted().map { path in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: library.appendingPathComponent(path).path
            )
            return "\(path) " + keys.map { String(describing: attributes[$0]) }.joined(separator: " ")
        }
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await UnprivilegedProgram.start(arguments + ["--library", library.path]).result()
    }

    private func add() async throws -> String {
        let added = try await run("library", "add", film.path)
        #expect(added.status == 0, "\(added.errors)")
        return try #require(added.output.split(separator: " ").first.map(String.init))
    }

    /// A library of another user is not reported as one that does not exist.
    @Test func libraryWithoutPermissionIsReportedAsSuch() async throws {
        let id = try await add()
        let reason = "the library \(library.path) cannot be read (Permission denied) (library-failed)"
        let catalog = library.appendingPathComponent("catalogue.sqlite").path
        for (path, mode, usual) in [(library.path, 0, 0o700), (catalog, 0, 0o600)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            for arguments in [["library", "list"], ["library", "limits"], ["library", "show", id], ["play", id]] {
                let program = try UnprivilegedProgram.start(arguments + ["--library", library.path])
                #expect(try await program.finish() == 1, "\(arguments)")
                #expect(program.standardError.contains(reason), "\(arguments) \(program.standardError)")
            }
            try FileManager.default.setAttributes([.posixPermissions: usual], ofItemAtPath: path)
        }
        #expect(try await run("library", "list").status == 0)
    }

    @Test func completeAssetIsPlayed() async throws {
        let id = try await add()
        try setModes(folder: 0o500, file: 0o400)
        let before = try content()
        let played = try await run("play", id, "--no-decode", "--speed", "max")
        #expect(played.status == 0 && played.output.contains("Watched: 8.0 s"), "\(played)")
        #expect(try content() == before)
        // What would change the library says that it cannot.
        let refused = try await run("library", "delete", id)
        #expect(refused.status == 1 && !refused.errors.isEmpty, "\(refused)")
        #expect(try content() == before)
    }

    /// Segments that are streamed of an incomplete asset cannot be stored.
    @Test func incompleteAssetIsPlayed() async throws {
        let id = try await add()
        try FileManager.default.removeItem(at: library.appendingPathComponent("packages/\(id)/media/000001.ts"))
        #expect(try await run("library", "verify", id).status == 1)
        try setModes(folder: 0o500, file: 0o400)
        let before = try content()
        let played = try await run("play", id, "--no-decode", "--speed", "max")
        #expect(played.status == 0 && played.output.contains("Watched: 8.0 s"), "\(played)")
        #expect(try content() == before)
    }
}

/// The program as a user whom the modes of files restrict; the administrator loses the capability to ignore them.
private enum UnprivilegedProgram {
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")
    private static let capabilities = "-dac_override,-dac_read_search"

    static func start(_ arguments: [String], of executable: URL = RunningProgram.executable) throws -> RunningProgram {
        guard getuid() == 0 else { return try RunningProgram(arguments, of: executable) }
        let options = ["--bounding-set=\(capabilities)", "--inh-caps=\(capabilities)", "--"]
        return try RunningProgram(options + [executable.path] + arguments, of: setpriv)
    }

    static func isSupported() async throws -> Bool {
        guard getuid() == 0 else { return true }
        guard FileManager.default.isExecutableFile(atPath: setpriv.path) else { return false }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("modes-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        let shell = URL(fileURLWithPath: "/bin/sh")
        let program = try start(["-c", "true && ! touch '\(folder.path)/x'"], of: shell)
        return try await program.finish() == 0
    }
}
