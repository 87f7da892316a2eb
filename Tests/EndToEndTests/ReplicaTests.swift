import AsyncHTTPClient
import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import NIOCore
import NIOHTTP1
import Testing

/// Tests the example configuration of two servers that share their state in Redis, behind nginx.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(10))) struct ReplicaTests {
    /// Returns the version of a live playlist that ends before a segment; every twelfth segment starts a break of three.
    private static func version(endingAt end: Int) -> String {
        let first = max(0, end - 6)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        for number in first..<end {
            if number % 12 == 6 { text += "#EXT-X-CUE-OUT:12\n" }
            if number % 12 == 9 { text += "#EXT-X-CUE-IN\n" }
            text += "#EXTINF:4,\nsegment-\(number).ts\n"
        }
        return text
    }

    private static let advertisement =
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nad-0.ts\n#EXTINF:6,\nad-1.ts\n#EXT-X-ENDLIST\n"

    /// Returns a port that was free a moment ago.
    private func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return try withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = try #require(bytes.bindMemory(to: sockaddr.self).baseAddress)
            try #require(bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0)
            return Int(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    private func executable(_ name: String) throws -> URL {
        let path = ["/usr/sbin/", "/usr/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
        return URL(fileURLWithPath: try #require(path, "\(name) is not installed: run Scripts/test"))
    }

    /// The example's configuration with other ports.
    private func configuration(_ ports: [Int], in folder: URL) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Examples/Replicas/nginx.conf").standardizedFileURL
        var text = try String(contentsOf: file, encoding: .utf8)
        for (known, port) in zip([8_080, 8_081, 8_082], ports) {
            try #require(text.contains("127.0.0.1:\(known)"))
            text = text.replacing("127.0.0.1:\(known)", with: "127.0.0.1:\(port)")
        }
        let path = folder.appendingPathComponent("nginx.conf")
        try Data(text.utf8).write(to: path)
        return path.path
    }

    @Test func oneOfTwoServersCanBeStoppedUnderLoad() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("replicas-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let secret = folder.appendingPathComponent("secret")
        try Data(repeating: 7, count: 32).write(to: secret)
        try #require(chmod(secret.path, 0o600) == 0)
        let redisPort = try freePort()
        let redis = try RunningProgram(
            ["--port", "\(redisPort)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
            of: executable("redis-server"),
            directory: folder
        )
        defer { redis.send(SIGKILL) }
        _ = try await redis.match("(Ready to accept connections)")
        let ad = MisbehavingServer.Resource.text(Self.advertisement)
        try await MisbehavingServer.withServer(["/ad.m3u8": ad]) { origin in
            origin.set("/live.m3u8", .text(Self.version(endingAt: 5)))
            var servers: [RunningProgram] = []
            var ports: [Int] = [try freePort()]
            for number in 0..<2 {
                let server = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.appendingPathComponent("library-\(number)").path,
                    "--allow-host", "127.0.0.1", "--secret", secret.path, "--trusted-proxy", "127.0.0.1",
                    "--state", "redis://127.0.0.1:\(redisPort)",
                ])
                ports.append(try #require(Int(try await server.match("http://[0-9.]+:([0-9]+)/"))))
                servers.append(server)
            }
            let nginx = try RunningProgram(
                ["-p", folder.path, "-c", configuration(ports, in: folder), "-g", "daemon off;"],
                of: executable("nginx"),
                directory: folder
            )
            defer { nginx.send(SIGTERM) }
            let plain =
                "http://127.0.0.1:\(ports[0])/play.m3u8?url=\(origin.address("/live.m3u8"))"
                + "&replace-breaks=\(origin.address("/ad.m3u8"))@cues"
            let signing = try RunningProgram(["sign", plain, "--secret", secret.path])
            #expect(try await signing.finish() == 0)
            let address = signing.standardOutput.trimmingCharacters(in: .newlines)
            try await play(address, origin, servers)
            // The main process ends its worker process; a killed one would leave it.
            nginx.send(SIGTERM)
            #expect(try await nginx.finish() == 0)
            try await expectHealth(of: ports[2], dependsOn: redis)
        }
    }

    /// A server without its Redis is reported as not ready.
    private func expectHealth(of port: Int, dependsOn redis: RunningProgram) async throws {
        let client = HTTPClient()
        func status() async throws -> UInt {
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/health")
            return try await client.execute(request, timeout: .seconds(30)).status.code
        }
        do {
            #expect(try await status() == 200)
            redis.send(SIGKILL)
            _ = try await redis.finish()
            // The server verifies it once a second.
            try await eventually("the server is not ready") { try await status() == 503 }
            try await client.shutdown()
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    /// Requests all versions of the playlist from both servers at once, and stops one of them in the middle.
    private func play(_ address: String, _ origin: MisbehavingServer, _ servers: [RunningProgram]) async throws {
        let client = HTTPClient()
        func request() async throws -> (status: Int, playlist: MediaPlaylist?) {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            let playlist = try? MediaPlaylist(parsing: Array(body.readableBytesView))
            return (Int(response.status.code), playlist)
        }
        do {
            try await eventually("nginx answers") { (try? await request().status) == 200 }
            var known: [Int64: [String]] = [:]
            var advertised: Set<Int64> = []
            var mediaSequence: Int64 = 0
            for end in 6..<66 {
                origin.set("/live.m3u8", .text(Self.version(endingAt: end)))
                let responses = try await withThrowingTaskGroup { group in
                    for number in 0..<6 {
                        group.addTask {
                            if end == 30, number == 3 { servers[0].send(SIGTERM) }
                            return try await request()
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for response in responses {
                    #expect(response.status == 200, "version \(end)")
                    let playlist = try #require(response.playlist, "version \(end)")
                    #expect(playlist.mediaSequence >= mediaSequence, "version \(end)")
                    for segment in playlist.segments {
                        let value = [
                            segment.uri, "\(segment.discontinuitySequence)", "\(segment.hasDiscontinuity)",
                        ]
                        #expect(known[segment.sequence] ?? value == value, "version \(end)")
                        known[segment.sequence] = value
                        if segment.duration.seconds == 6 { advertised.insert(segment.sequence) }
                    }
                }
                mediaSequence = responses.compactMap { $0.playlist?.mediaSequence }.max() ?? 0
            }
            // Five breaks, of which each replaces three segments by two.
            #expect(advertised.count == 10)
            #expect(mediaSequence == 59 - 5)
            #expect(Array(known.keys.sorted()) == Array(0..<Int64(65 - 5)))
            try await eventually("the stopped server ends") { !servers[0].isRunning }
            #expect(servers[1].isRunning)
            try await client.shutdown()
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
