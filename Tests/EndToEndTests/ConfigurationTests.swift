import Foundation
import MillstreamTesting
import Testing

/// Tests the configuration file: its defaults, their precedence, and its errors.
@Suite(.serialized, .tags(.endToEnd))
struct ConfigurationTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("configuration-\(UUID())")

    private func configure(_ text: String, mode: Int = 0o600) throws {
        let file = folder.appendingPathComponent("millstream/config")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    private func run(
        _ arguments: [String],
        _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let variables = ["XDG_CONFIG_HOME": folder.path].merging(environment) { _, new in new }
        return try await RunningProgram(arguments, environment: variables).result()
    }

    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"

    @Test(.timeLimit(.minutes(10))) func defaultsHoldWithTheirPrecedence() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try configure("# mine\nlibrary = /from/file\n\nmax-height = 480\n")
        func origins(_ environment: [String: String] = [:]) async throws -> [String: [String: Any]] {
            let result = try await run(["config", "--json"], environment)
            #expect(result.status == 0, "\(result.errors)")
            let report = try #require(
                JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            )
            let options = try #require(report["options"] as? [[String: Any]])
            return Dictionary(uniqueKeysWithValues: options.map { ($0["name"] as? String ?? "", $0) })
        }
        let file = try await origins()
        #expect(file["library"]?["value"] as? String == "/from/file" && file["library"]?["line"] as? Int == 2)
        #expect(file["max-height"]?["from"] as? String == "file" && file["retries"]?["from"] as? String == "built-in")
        let environment = try await origins(["MILLSTREAM_LIBRARY": "/from/environment"])
        #expect(environment["library"]?["value"] as? String == "/from/environment")
        #expect(environment["library"]?["from"] as? String == "environment")
        let text = try await run(["config"])
        #expect(text.output.contains("/millstream/config:2") && text.output.contains("built in"), "\(text.output)")

        let wanted = folder.appendingPathComponent("wanted").path
        for arguments in [["library", "list", "--json", "--library", wanted], ["library", "path", "x"]] {
            let result = try await run(arguments)
            // The folder of the file does not exist.
            #expect(arguments.contains("--library") ? result.status == 0 : result.status == 1, "\(result.errors)")
        }
    }

    #if os(Linux)
    @Test(.timeLimit(.minutes(10))) func programsOfTestsUseNoFolderOfTheUser() async throws {
        let name = RunningProgram.userFolder.lastPathComponent
        let library = try await RunningProgram(["library", "path"]).result()
        #expect(library.status == 0 && library.output.contains("/\(name)/"), "\(library)")
        let configuration = try await RunningProgram(["config", "--json"]).result()
        let report = try #require(JSONSerialization.jsonObject(with: Data(configuration.output.utf8)) as? [String: Any])
        let file = try #require(report["file"] as? String)
        #expect(configuration.status == 0 && file.contains("/\(name)/"), "\(file)")
    }
    #endif

    /// Editors on other systems write other line endings, and a mark at the start of the file.
    @Test(.timeLimit(.minutes(10)), arguments: ["\r\n", "\n", "\r"])
    func lineEndingsAndMarksOfOtherSystemsAreRead(ending: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try configure("\u{FEFF}# mine\(ending)library = ~/films\(ending)max-height = 480\(ending)")
        let result = try await run(["config", "--json"], ["HOME": "/home/other"])
        #expect(result.status == 0, "\(result.errors)")
        let report = try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let options = try #require(report["options"] as? [[String: Any]])
        let found = Dictionary(uniqueKeysWithValues: options.map { ($0["name"] as? String ?? "", $0) })
        #expect(found["max-height"]?["line"] as? Int == 3)
        let path = try await run(["library", "path", "x"], ["HOME": "/home/other"])
        #expect(path.errors.contains("/home/other/films"), "\(path.errors)")
    }

    /// A comment after a value would become a part of a path.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "library = ~/Films # mine", "library = # mine", "library = ~/Films\t#mine",
            "[host example.com]\nheader = Authorization: secret # mine",
        ]
    )
    func commentsAfterValuesAreRefused(text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try configure(text + "\n")
        let result = try await run(["config"])
        let line = text.split(separator: "\n").count
        #expect(result.status == 2 && result.errors.contains("/config:\(line): the value contains \" #\""), "\(result)")
        #expect(!result.errors.contains("secret"))
        try configure("# mine\nlibrary = ~/Films#1\n")
        #expect(try await run(["config"]).status == 0)
    }

    /// Commands with a default subcommand have the configuration with and without its name.
    @Test(.timeLimit(.minutes(10))) func defaultsHoldForDefaultSubcommands() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let wanted = folder.appendingPathComponent("wanted").path
        try configure("library = \(wanted)\n")
        // A file is no library.
        try Data().write(to: URL(fileURLWithPath: wanted))
        for arguments in [["library"], ["library", "list"], ["downloads"], ["downloads", "list"]] {
            let result = try await run(arguments)
            #expect(result.status == 1 && result.errors.contains(wanted), "\(arguments): \(result.errors)")
        }
    }

    /// Values of the file are not used where the command line or an empty variable excludes them.
    @Test(.timeLimit(.minutes(10))) func valuesAreTurnedOffForOneRun() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer(["/a.m3u8": .init(Array(Self.media.utf8))]) { server in
            let cache = folder.appendingPathComponent("cache").path
            try configure("cache = \(cache)\n")
            let source = server.address("/a.m3u8")
            let insecure = try await run(["inspect", source, "--insecure"])
            #expect(insecure.status == 0 && !FileManager.default.fileExists(atPath: cache), "\(insecure.errors)")
            #expect(try await run(["inspect", source, "--insecure", "--cache", cache]).status == 64)
            #expect(try await run(["inspect", source]).status == 0)
            #expect(FileManager.default.fileExists(atPath: cache))
            try configure("proxy = 127.0.0.1:1\nretries = 0\n")
            let proxied = try await run(["inspect", source])
            #expect(proxied.status == 1 && proxied.errors.contains("the proxy 127.0.0.1:1"), "\(proxied.errors)")
            let direct = try await run(["inspect", source], ["MILLSTREAM_PROXY": ""])
            #expect(direct.status == 0, "\(direct.errors)")
        }
    }

    /// A header field for a host is sent to this host only, and a field of the command line replaces it.
    @Test(.timeLimit(.minutes(10))) func headerFieldsAreSentToTheirHosts() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer(["/a.m3u8": .init(Array(Self.media.utf8))]) { server in
            try configure(
                "[host 127.0.0.1]\nheader = X-Token: hidden\n\n[host other.example]\nheader = X-Other: hidden\n"
            )
            let first = try await run(["inspect", server.address("/a.m3u8")])
            #expect(first.status == 0, "\(first.errors)")
            #expect(server.requests.last?.header("X-Token") == "hidden")
            #expect(server.requests.last?.header("X-Other") == nil)
            _ = try await run(["inspect", server.address("/a.m3u8"), "--header", "X-Token: given"])
            #expect(server.requests.last?.header("X-Token") == "given")
            let shown = try await run(["config"])
            #expect(
                shown.output.contains("header for 127.0.0.1") && !shown.output.contains("hidden"),
                "\(shown.output)"
            )
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("retries = 1\nno-such = 2\n", 0o600, "config:2: there is no option \"no-such\"", Int32(2)),
            ("timeout = never\n", 0o600, "config:1: timeout must be between", 2),
            ("retries = 1.5\n", 0o600, "config:1: retries must be a whole number between 0 and 100", 2),
            ("\nmax-height = 1e3\n", 0o600, "config:2: max-height must be a whole number between 1 and 100000", 2),
            ("selector = best\n", 0o600, "config:1: selector must be one of", 2),
            ("library\n", 0o600, "config:1: a line must be OPTION = VALUE", 2),
            ("retries = 1\nretries = 2\n", 0o600, "config:2: retries is given twice", 2),
            ("[hosts a]\n", 0o600, "config:1: a section must be [host NAME]", 2),
            ("[host a]\nlibrary = /x\n", 0o600, "config:2: a section for a host has no option", 2),
            ("[host a]\nheader = hidden\n", 0o600, "config:2: header must be NAME: VALUE", 2),
            ("[host a]\nheader = A: hidden\n", 0o644, "other users can read it (readable-by-others)", 1),
        ]
    )
    func errorsNameTheLine(text: String, mode: Int, message: String, status: Int32) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try configure(text, mode: mode)
        for arguments in [["config"], ["inspect", "x.m3u8"]] {
            let result = try await run(arguments)
            #expect(result.status == status && result.errors.contains(message), "\(result.errors)")
            #expect(!result.errors.contains("hidden"))
        }
        // Help is available nevertheless.
        #expect(try await run(["inspect", "--help"]).status == 0)
    }
}
