import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSamples
import Testing

/// Tests a simulated channel with partial segments as a low-latency player uses it.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct LowLatencyChannelTests {
    private struct ServerResponse {
        let status: Int
        let body: Data
        var text: String { String(decoding: body, as: UTF8.self) }
        var lines: [Substring] { text.split(separator: "\n") }
    }

    private struct Stage {
        let origin: RecordingOrigin
        let server: RunningProgram
        let address: String

        func ask(_ path: some StringProtocol) async throws -> ServerResponse {
            let request = HTTPClientRequest(url: path.hasPrefix("/") ? address + path.dropFirst() : String(path))
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            let bytes = try await response.body.collect(upTo: 64 << 20)
            return ServerResponse(status: Int(response.status.code), body: Data(bytes.readableBytesView))
        }

        /// Returns the URLs of the media playlists of a channel.
        func mediaPlaylists(_ source: String) async throws -> [Substring] {
            let address = "/play.m3u8?url=\(origin.address(source))&live=loop,part%3D0.5"
            let response = try await ask(address)
            #expect(response.status == 200, "\(response.text)")
            return response.lines.compactMap { line in
                line.hasPrefix("#") ? line.firstMatch(of: /TYPE=(?:AUDIO|SUBTITLES).*URI="([^"]+)"/)?.1 : line
            }
        }
    }

    private func onStage(_ act: (Stage) async throws -> Void) async throws {
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let library = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: library) }
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", library.path, "--catalog", origin.address("Streams.plist"),
        ])
        let address = try await server.match("(http://[0-9.:]+/)")
        try await act(Stage(origin: origin, server: server, address: address))
        server.send(SIGTERM)
        #expect(try await server.finish() == 0)
        await origin.stop()
    }

    /// Returns the URLs of the parts of each finished segment with parts, with the URL and the byte range of the segment.
    private func finishedParts(
        _ playlist: ServerResponse
    ) -> [(segment: Substring, range: Range<Int>?, parts: [Substring])] {
        var result: [(Substring, Range<Int>?, [Substring])] = []
        var parts: [Substring] = []
        var range: Range<Int>?
        for line in playlist.lines {
            if let match = line.firstMatch(of: /^#EXT-X-BYTERANGE:(\d+)@(\d+)/), let length = Int(match.1),
                let start = Int(match.2)
            {
                range = start..<start + length
            }
            if let part = line.firstMatch(of: /^#EXT-X-PART:DURATION=[0-9.]+,URI="([^"]+)"/) { parts.append(part.1) }
            guard !line.hasPrefix("#") else { continue }
            if !parts.isEmpty { result.append((line, range, parts)) }
            (parts, range) = ([], nil)
        }
        return result
    }

    @Test(.timeLimit(.minutes(10))) func partsOfATransportStreamAreItsSegments() async throws {
        try await onStage { stage in
            let video = try #require(try await stage.mediaPlaylists("ts/multivariant.m3u8").first)
            let segments = finishedParts(try await stage.ask(video))
            let (segment, _, parts) = try #require(segments.first)
            #expect(parts.count == 12)
            stage.origin.clearPaths()
            var joined = Data()
            for part in parts {
                let response = try await stage.ask(part)
                #expect(response.status == 200 && response.body.count % 188 == 0 && !response.body.isEmpty)
                joined += response.body
            }
            #expect(stage.origin.paths.count == 1, "a segment is loaded once for all its parts: \(stage.origin.paths)")
            #expect(try await stage.ask(segment).body == joined)
        }
    }

    /// FFmpeg finds the same packets, with the same times, in the parts and in the segments of each format.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "fmp4/multivariant.m3u8", "byterange/multivariant.m3u8", "dash-timeline/manifest.mpd",
            "dash-number/manifest.mpd", "ad/multivariant.m3u8",
        ]
    )
    func partsHaveThePacketsOfTheirSegments(source: String) async throws {
        try await onStage { stage in
            var compared = 0
            for address in try await stage.mediaPlaylists(source) {
                let playlist = try await stage.ask(address)
                #expect(playlist.text.contains("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5"))
                guard let (segment, range, parts) = finishedParts(playlist).first else {
                    #expect(address.contains("subtitles"), "\(address)")
                    continue
                }
                var initialization = Data()
                if let map = playlist.lines.lazy.compactMap({
                    $0.firstMatch(of: /MAP:URI="([^"]+)"(?:,BYTERANGE="(\d+)@0")?/)
                }).first {
                    let whole = try await stage.ask(map.1).body
                    initialization = map.2.flatMap { Int($0) }.map { whole.prefix($0) } ?? whole
                }
                var joined = initialization
                for part in parts { joined += try await stage.ask(part).body }
                var media = try await stage.ask(segment).body
                if let range { media = media.subdata(in: range) }
                let expected = try await packets(initialization + media)
                let found = try await packets(joined)
                #expect(found == expected && expected.count > parts.count, "\(address)")
                compared += 1
            }
            #expect(compared > 0)
        }
    }

    /// Returns the time, size and checksum of each packet, by stream.
    private func packets(_ media: Data) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("packets-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try media.write(to: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffprobe", "-v", "error", "-show_data_hash", "md5", "-show_entries",
            "packet=stream_index,pts,dts,size,flags,data_hash", "-of", "csv", file.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        // The order of packets of different streams depends on their interleaving.
        return text.split(separator: "\n").map { String($0) }.sorted()
    }

    /// More clients than the server edits playlists for at once wait for one part, and get the same playlist.
    @Test(.timeLimit(.minutes(10))) func manyClientsWaitForOnePart() async throws {
        try await onStage { stage in
            let video = try #require(try await stage.mediaPlaylists("ts/multivariant.m3u8").first)
            let first = try await stage.ask(video)
            let sequence = try #require(first.text.firstMatch(of: /MEDIA-SEQUENCE:(\d+)/).flatMap { Int64($0.1) })
            let next = sequence + Int64(first.lines.count { $0.hasPrefix("#EXTINF") }) + 1
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 100
            let client = HTTPClient(configuration: configuration)
            let address = stage.address + "\(video)&_HLS_msn=\(next)&_HLS_part=0".dropFirst()
            let responses = try await withThrowingTaskGroup(of: (status: UInt, body: ByteBuffer).self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(60))
                        return (response.status.code, try await response.body.collect(upTo: 16 << 20))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await client.shutdown()
            #expect(responses.count == 100 && responses.allSatisfy { $0.status == 200 && $0.body == responses[0].body })
            #expect(String(buffer: responses[0].body).contains("#EXT-X-PART:"))
        }
    }

    /// A player that has the playlist receives what is new, from the same URL as the full playlist.
    @Test(.timeLimit(.minutes(10))) func playersReceiveDeltaUpdates() async throws {
        try await onStage { stage in
            for video in try await stage.mediaPlaylists("fmp4/multivariant.m3u8") {
                let first = try await stage.ask(video)
                #expect(first.text.contains(/,CAN-SKIP-UNTIL=\d+,CAN-SKIP-DATERANGES=YES\n/))
                let sequence = try #require(first.text.firstMatch(of: /MEDIA-SEQUENCE:(\d+)/).flatMap { Int64($0.1) })
                let awaited = "_HLS_msn=\(sequence)"
                for (skip, removed) in [("YES", ""), ("v2", ",RECENTLY-REMOVED-DATERANGES=")] {
                    let update = try await stage.ask("\(video)&\(awaited)&_HLS_skip=\(skip)")
                    #expect(update.status == 200)
                    let match = try #require(update.text.firstMatch(of: /\n#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)(.*)\n/))
                    #expect((Int(match.1) ?? 0) > 0 && match.2.hasPrefix(removed) && match.2.isEmpty == removed.isEmpty)
                    let full = try await stage.ask("\(video)&\(awaited)")
                    #expect(full.status == 200 && !full.text.contains("#EXT-X-SKIP") && full.text.contains("#EXTINF"))
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func serverEndsWhileAClientWaitsForAPart() async throws {
        try await onStage { stage in
            let video = try #require(try await stage.mediaPlaylists("ts/multivariant.m3u8").first)
            let first = try await stage.ask(video)
            let sequence = try #require(first.text.firstMatch(of: /MEDIA-SEQUENCE:(\d+)/).flatMap { Int64($0.1) })
            // The second segment after those that are finished, for which a client waits at least a segment.
            let next = sequence + Int64(first.lines.count { $0.hasPrefix("#EXTINF") }) + 1
            async let response = stage.ask("\(video)&_HLS_msn=\(next)")
            try await Task.sleep(for: .seconds(1))
            stage.server.send(SIGTERM)
            #expect(try await stage.server.finish() == 0)
            // The client does not get the playlist, for which the server would have waited: it is told to come again, or its
            // connection is closed.
            if let response = try? await response { #expect(response.status == 503, "\(response.text)") }
        }
    }

    @Test(.timeLimit(.minutes(10))) func playlistsAndPartsAreDeliveredWhenTheyArePublished() async throws {
        try await onStage { stage in
            let video = try #require(try await stage.mediaPlaylists("fmp4/multivariant.m3u8").first)
            let first = try await stage.ask(video)
            let sequence = try #require(first.text.firstMatch(of: /MEDIA-SEQUENCE:(\d+)/).flatMap { Int64($0.1) })
            var next = sequence + Int64(first.lines.count { $0.hasPrefix("#EXTINF") })
            var part = first.lines.reversed().prefix { !$0.hasPrefix("/") }.count { $0.hasPrefix("#EXT-X-PART:") }
            let began = ContinuousClock.now
            for _ in 0..<10 {
                let playlist = try await stage.ask("\(video)&_HLS_msn=\(next)&_HLS_part=\(part)")
                #expect(playlist.status == 200)
                let hint = try #require(playlist.text.firstMatch(of: /PRELOAD-HINT:TYPE=PART,URI="([^"]+)"/)?.1)
                let media = try await stage.ask(hint)
                #expect(media.status == 200 && media.body.count > 100)
                let trailing = playlist.lines.reversed().prefix { !$0.hasPrefix("/") }
                let count = trailing.count { $0.hasPrefix("#EXT-X-PART:") }
                (next, part) = count == 0 ? (next + 1, 0) : (next, part + 1)
                if count > 0, part > count { part = count }
            }
            // Each round awaits one part of half a second after the first one.
            let time = ContinuousClock.now - began
            #expect(time > .seconds(4) && time < .seconds(30), "\(time)")
            for (query, status) in [
                ("_HLS_msn=\(next + 100)", 400), ("_HLS_part=1", 400), ("_HLS_msn=-1", 400), ("_HLS_msn=0", 200),
            ] {
                #expect(try await stage.ask("\(video)&\(query)").status == status, "\(query)")
            }
        }
    }
}
