import Foundation
import MillstreamTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the option `--cache`, with a directory that several commands share.
@Suite(.serialized, .tags(.endToEnd))
struct CacheTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID())")

    private func run(_ arguments: [String]) async throws -> (status: Int32, errors: String) {
        let program = try RunningProgram(arguments)
        return (try await program.finish(), program.standardError)
    }

    private func withOrigin(_ body: (MisbehavingServer) async throws -> Void) async throws {
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:1
            #EXTINF:1,
            0.ts
            #EXTINF:1,
            1.ts
            #EXT-X-ENDLIST

            """
        let fresh: KeyValuePairs = ["Cache-Control": "max-age=600"]
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer([
            "/main.m3u8": .init(Array(playlist.utf8), contentType: "application/vnd.apple.mpegurl", headers: fresh),
            "/0.ts": .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t", headers: fresh),
            "/1.ts": .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t", headers: fresh),
        ]) { origin in try await body(origin) }
    }

    private var cache: [String] { ["--cache", folder.appendingPathComponent("cache").path] }
    private var library: [String] { ["--library", folder.appendingPathComponent("library").path] }

    @Test(.timeLimit(.minutes(10))) func downloadStoresWhatTheNextDownloadReads() async throws {
        try await withOrigin { origin in
            let source = origin.address("/main.m3u8")
            for number in 1...2 {
                let library = ["--library", folder.appendingPathComponent("library-\(number)").path]
                let result = try await run(["download", source, "--quiet"] + library + cache)
                #expect(result.status == 0, "\(result.errors)")
            }
            #expect(origin.requests.map(\.path).sorted() == ["/0.ts", "/1.ts", "/main.m3u8"])
            let inspected = try await run(["inspect", source] + cache)
            #expect(inspected.status == 0, "\(inspected.errors)")
            #expect(origin.requests.count == 3)
        }
    }

    @Test(.timeLimit(.minutes(10))) func playbackAndDownloadShareTheCache() async throws {
        try await withOrigin { origin in
            let source = origin.address("/main.m3u8")
            let played = try await run(["play", source, "--no-decode", "--speed", "max"] + cache)
            #expect(played.status == 0, "\(played.errors)")
            let downloaded = try await run(["download", source, "--quiet"] + library + cache)
            #expect(downloaded.status == 0, "\(downloaded.errors)")
            #expect(origin.requests.map(\.path).sorted() == ["/0.ts", "/1.ts", "/main.m3u8"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func serverUsesTheCache() async throws {
        try await withOrigin { origin in
            let source = origin.address("/main.m3u8")
            let first = try await run(["inspect", source] + cache)
            #expect(first.status == 0, "\(first.errors)")
            let program = try RunningProgram(
                ["serve", "--port", "0", "--allow-host", "127.0.0.1"] + library + cache
            )
            try await eventually("the server listens") { program.standardOutput.contains("Listening on ") }
            let line = try #require(program.standardOutput.split(separator: "\n").first)
            let base = line.dropFirst("Listening on ".count)
            let url = try #require(URL(string: "\(base)play.m3u8?url=\(source)"))
            let (body, response) = try await URLSession.shared.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(String(decoding: body, as: UTF8.self).contains("#EXTINF:1,"))
            #expect(origin.requests.count == 1)
            program.send(SIGTERM)
            #expect(try await program.finish() == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) func unusableDirectoryIsAnError() async throws {
        let result = try await run(["inspect", "http://127.0.0.1:1/", "--cache", "/dev/null/x"])
        #expect(result.status == 1)
        #expect(result.errors.contains("the cache directory /dev/null/x cannot be created"))
        let insecure = try await run(["inspect", "http://127.0.0.1:1/", "--insecure", "--cache", "/tmp"])
        #expect(insecure.status == 64)
        #expect(insecure.errors.contains("--cache cannot be used with --insecure"))
    }
}
