import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests downloads from a server that misbehaves: each ends complete, or in an error after which it can be continued.
@Suite struct DownloadFaultTests {
    /// A fault of the server.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let behavior: MisbehavingServer.Behavior
        /// A Boolean value that indicates whether no client can notice the fault.
        var isUnnoticeable = false

        var testDescription: String { name }
    }

    /// Faults of one response after which a client that repeats the request once has all bytes, or which it tolerates.
    private static let faultsWithinOneRetry = [
        Fault(name: "status 429", behavior: .status(429)), Fault(name: "status 500", behavior: .status(500)),
        Fault(name: "status 503", behavior: .status(503)),
        Fault(name: "shorter than announced", behavior: .wrongLength(9)),
        Fault(name: "chunked", behavior: .chunked(size: 7)), Fault(name: "no length", behavior: .noLength),
        Fault(name: "delay", behavior: .delay(.milliseconds(300))),
        Fault(name: "trickle", behavior: .trickle(every: .milliseconds(2))),
        Fault(name: "truncated", behavior: .truncate(after: 5)), Fault(name: "reset", behavior: .reset(after: 5)),
        Fault(name: "stalled", behavior: .stall(after: 5)), Fault(name: "closed", behavior: .closeBeforeHead),
        Fault(name: "reset before the head", behavior: .resetBeforeHead),
        Fault(name: "stalled before the head", behavior: .stallBeforeHead),
        Fault(name: "closed after the response", behavior: .closeAfterResponse),
        Fault(name: "closed when idle", behavior: .closeIdle), Fault(name: "reset when idle", behavior: .resetIdle),
    ]

    private static let otherFaults = [
        Fault(name: "status 403", behavior: .status(403)), Fault(name: "status 404", behavior: .status(404)),
        Fault(name: "status 410", behavior: .status(410)), Fault(name: "page", behavior: .htmlPage),
        Fault(name: "redirect loop", behavior: .redirectLoop),
        Fault(name: "redirect without location", behavior: .redirectWithoutLocation),
        Fault(name: "redirect to a file", behavior: .redirect(to: "file:///etc/passwd")),
        Fault(name: "gzip", behavior: .gzip),
        Fault(name: "gzip bomb", behavior: .gzipBomb(expandedTo: 64 << 20)),
        Fault(name: "longer than announced", behavior: .wrongLength(-3), isUnnoticeable: true),
        Fault(name: "broken chunk", behavior: .brokenChunk(after: 5)), Fault(name: "garbage", behavior: .garbage),
        Fault(name: "endless head", behavior: .endlessHead), Fault(name: "endless body", behavior: .endlessBody),
    ]

    private static let paths = ["/film/main.m3u8", "/film/video.m3u8", "/film/key", "/film/init.mp4", "/film/1.m4s"]

    private static let resources: [String: MisbehavingServer.Resource] = {
        let type = "application/vnd.apple.mpegurl"
        let video = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:4,
            0.m4s
            #EXTINF:4,
            1.m4s
            #EXTINF:2,
            2.m4s
            #EXT-X-ENDLIST

            """
        var resources: [String: MisbehavingServer.Resource] = [
            "/film/main.m3u8": .init(
                Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000\nvideo.m3u8\n".utf8),
                contentType: type
            ),
            "/film/video.m3u8": .init(Array(video.utf8), contentType: type),
            "/film/key": .init(Array(repeating: 7, count: 16), contentType: "application/octet-stream"),
            "/film/init.mp4": .init(Array("an initialization section".utf8), contentType: "video/mp4"),
        ]
        for number in 0..<3 {
            resources["/film/\(number).m4s"] = .init(
                Array("segment \(number), which is long enough to be torn".utf8),
                contentType: "video/mp4"
            )
        }
        return resources
    }()

    /// Downloads the film.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - library: The library.
    ///   - patience: The time without bytes after which a request fails.
    /// - Returns: The complete asset.
    /// - Throws: `DownloadError`.
    private func download(
        from server: MisbehavingServer,
        into library: AssetLibrary,
        patience: Duration = .seconds(20)
    ) async throws -> StoredAsset {
        var options = HTTPTransport.Options(connectTimeout: .seconds(10), idleTimeout: patience)
        options.userAgent = "test"
        var configuration = DownloadConfiguration()
        configuration.limits = DownloadLimits(fileSize: ByteCount(1 << 20), freeSpace: .zero)
        let transport = HTTPTransport(options)
        var policy = RecoveryPolicy(retries: 1)
        policy.rule.initialDelay = .milliseconds(20)
        let download = AssetDownload(
            ResourceAddress(server.address("/film/main.m3u8")),
            into: library,
            loader: ResourceLoader(transport, policy: policy),
            configuration: configuration
        )
        do {
            let asset = try await download.run()
            try await transport.shutdown()
            return asset
        } catch {
            try await transport.shutdown()
            throw error
        }
    }

    /// Returns the content of all files of a package but the lock, by their paths.
    private func contents(of asset: StoredAsset, in library: AssetLibrary) throws -> [String: Data] {
        let package = library.packageDirectory(asset.id)
        var result: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: package.path) where !path.hasSuffix(".lock") {
            result[path] = try? Data(contentsOf: package.appendingPathComponent(path))
        }
        return result
    }

    @Test(.serialized, .timeLimit(.minutes(10)), arguments: faultsWithinOneRetry)
    func aFaultOfOneResponseEndsInACompletePackageIfARetryIsEnough(fault: Fault) async throws {
        try await checkDownloads(with: fault, persists: false, mustComplete: true, at: Self.paths)
    }

    @Test(.serialized, .timeLimit(.minutes(10)), arguments: otherFaults)
    func anotherFaultOfOneResponseEndsInACompletePackageOrCanBeContinued(fault: Fault) async throws {
        try await checkDownloads(with: fault, persists: false, at: Self.paths)
    }

    @Test(.serialized, .timeLimit(.minutes(10)), arguments: faultsWithinOneRetry + otherFaults)
    func aLastingFaultEndsInACompletePackageOrCanBeContinued(fault: Fault) async throws {
        try await checkDownloads(with: fault, persists: true, at: ["/film/video.m3u8", "/film/1.m4s"])
    }

    /// Downloads the film once for each path with a fault, and once more without the fault if that failed.
    ///
    /// Each path has its own server and its own libraries. All paths are checked at the same time, because the downloads
    /// mostly wait.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - persists: A Boolean value that indicates whether each response has the fault, or only the first one.
    ///   - mustComplete: A Boolean value that indicates whether the first download must be complete in spite of the fault.
    ///   - paths: The paths of the resources of which one at a time has the fault.
    /// - Throws: An error of the server or the disk; that of a download is expected.
    private func checkDownloads(
        with fault: Fault,
        persists: Bool,
        mustComplete: Bool = false,
        at paths: [String]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for path in paths {
                group.addTask {
                    try await checkDownload(with: fault, persists: persists, mustComplete: mustComplete, at: path)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Downloads the film with a fault at one path, and once more without the fault if that failed.
    private func checkDownload(
        with fault: Fault,
        persists: Bool,
        mustComplete: Bool,
        at path: String
    ) async throws {
        let temporary = try TemporaryLibrary()
        try await MisbehavingServer.withServer(Self.resources) { server in
            let expected = try await { () async throws -> [String: Data] in
                let other = try TemporaryLibrary()
                let asset = try await download(from: server, into: other.library)
                return names(try contents(of: asset, in: other.library))
            }()
            if persists {
                server.behave(path, fault.behavior)
            } else {
                server.behave(path, fault.behavior, .proper)
            }
            var asset: StoredAsset?
            // A response without the fault must not be too slow on a busy machine.
            let patience: Duration = mustComplete ? .seconds(1) : .milliseconds(400)
            do {
                asset = try await download(from: server, into: temporary.library, patience: patience)
            } catch let error as DownloadError {
                #expect(!error.message.isEmpty && error.code != .unknown, "\(path): \(error)")
                #expect(!mustComplete, "\(path): \(error)")
            }
            if let asset, !fault.isUnnoticeable {
                #expect(asset.state == .complete)
                #expect(names(try contents(of: asset, in: temporary.library)) == expected, "\(path)")
            }
            guard asset == nil else { return }
            // What is stored so far is intact, and a later download completes it.
            if let partial = try temporary.library.assets().first, !fault.isUnnoticeable {
                #expect(try temporary.library.verify(partial.id).damaged.isEmpty, "\(path)")
            }
            server.behave(path, .proper)
            let complete = try await download(from: server, into: temporary.library)
            #expect(complete.state == .complete, "\(path)")
            if !fault.isUnnoticeable {
                #expect(names(try contents(of: complete, in: temporary.library)) == expected, "\(path)")
            }
        }
    }

    /// Returns contents with names in which nothing depends on the port of the server.
    private func names(_ contents: [String: Data]) -> [String: Data] {
        Dictionary(
            uniqueKeysWithValues: contents.filter { !$0.key.hasSuffix("m3u8") }.map { path, data in
                (path.replacing(/-[0-9a-f]{32}/, with: ""), data)
            }
        )
    }
}
