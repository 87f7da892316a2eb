import Foundation
import MediaTiming
import MediaTransport
import MetricsTestKit
import NIOCore
import NetworkConditioning
import PlaylistEditing
import ReportFormat
import Testing

@testable import MillstreamServer

/// Tests the documented default limits.
@Suite struct DefaultLimitsTests {
    @Test func serverHasTheDocumentedLimits() {
        let limits = ServerLimits()
        #expect(limits.editing.loadedBytes == ByteCount(33_554_432))
        #expect(limits.editing.entries == 200_000)
        #expect(limits.editing.resultBytes == ByteCount(67_108_864))
        #expect(limits.editing.edits == 16)
        #expect(limits.editing.sources == 16)
        #expect(limits.concurrentEdits == max(1, System.coreCount - 1))
        #expect(limits.pendingEdits == 256)
        #expect(limits.pendingEditsPerClient == nil)
        #expect(limits.pendingBytes == ByteCount(268_435_456))
        #expect(limits.loadingTime == .seconds(60))
        #expect(limits.retainedSegmentBytes == ByteCount(67_108_864))
        #expect(limits.parts.concurrentDivisions == 64)
        #expect(limits.parts.segmentBytes == ByteCount(33_554_432))
        #expect(limits.parts.retainedBytes == ByteCount(67_108_864))
    }

    @Test func limitsOfAServerCanBeSet() {
        let limits = ServerLimits(
            editing: EditLimits(
                loadedBytes: ByteCount(1),
                entries: 2,
                resultBytes: ByteCount(3),
                edits: 4,
                sources: 5
            ),
            concurrentEdits: 6,
            pendingEdits: 7,
            pendingEditsPerClient: 9,
            pendingBytes: ByteCount(8),
            loadingTime: .seconds(10),
            retainedSegmentBytes: ByteCount(11),
            parts: PartLimits(concurrentDivisions: 12, segmentBytes: ByteCount(13), retainedBytes: ByteCount(14))
        )
        #expect(limits.editing.loadedBytes == ByteCount(1) && limits.editing.entries == 2)
        #expect(limits.editing.resultBytes == ByteCount(3) && limits.editing.edits == 4 && limits.editing.sources == 5)
        #expect(limits.concurrentEdits == 6 && limits.pendingEdits == 7 && limits.pendingBytes == ByteCount(8))
        #expect(limits.pendingEditsPerClient == 9 && limits.loadingTime == .seconds(10))
        #expect(limits.retainedSegmentBytes == ByteCount(11) && limits.parts.concurrentDivisions == 12)
        #expect(limits.parts.segmentBytes == ByteCount(13) && limits.parts.retainedBytes == ByteCount(14))
    }

    @Test func connectionsHaveTheDocumentedLimits() {
        let limits = ConnectionLimits()
        #expect(limits.maximumConnections == 512 && limits.maximumConnectionsPerClient == 128)
        #expect(limits.headTimeout == .seconds(15) && limits.bodyTimeout == .seconds(30))
        #expect(limits.keepAliveTimeout == .seconds(75) && limits.writeTimeout == .seconds(60))
        #expect(limits.trustedProxies.isEmpty)
    }

    @Test func originListensOnLoopbackByDefault() {
        let options = LocalOrigin.Options()
        #expect(options.host == "127.0.0.1" && options.port == 8_080)
        #expect(options.catalog.streams.isEmpty && options.allowedHosts.isEmpty && options.sourceHeaders.isEmpty)
        #expect(options.conditions == .off && options.names.isEmpty && options.secret == nil)
        #expect(options.limits == ServerLimits())
    }
}

@Suite struct ServerMetricsTests {
    @Test func metricsListAllSeriesInAFixedOrder() {
        let metrics = ServerMetrics()
        for (path, status) in [
            ("/segment/a.ts", 302), ("/api/library", 403), ("/", 200), ("/api/streams", 200), ("/api/library", 200),
            ("/play.m3u8", 200), ("/wp-login.php", 404), ("/offline/x/1.ts", 200), ("/metrics", 200),
            ("/health", 200), ("/console/main.js", 304), ("/.env", 404), ("/API/library", 404),
        ] {
            metrics.count(path: path, status: status, duration: .milliseconds(1))
        }
        metrics.countPlaylist(.edited)
        metrics.countPlaylist(.fresh)
        metrics.countPlaylist(.fresh)
        metrics.countSourceError(.status)
        let text = metrics.text(downloads: 1, listeners: 2, connections: 3)
        let lines = text.split(separator: "\n").filter { !$0.contains("duration_seconds") }
        #expect(
            lines.joined(separator: "\n") == """
                # HELP millstream_requests_total Responses, by part of the server and status.
                # TYPE millstream_requests_total counter
                millstream_requests_total{area="api",status="200"} 2
                millstream_requests_total{area="api",status="403"} 1
                millstream_requests_total{area="console",status="200"} 1
                millstream_requests_total{area="console",status="304"} 1
                millstream_requests_total{area="health",status="200"} 1
                millstream_requests_total{area="metrics",status="200"} 1
                millstream_requests_total{area="offline",status="200"} 1
                millstream_requests_total{area="other",status="404"} 3
                millstream_requests_total{area="play.m3u8",status="200"} 1
                millstream_requests_total{area="segment",status="302"} 1
                # HELP millstream_edited_playlists_total Edited playlists, by the state of their sources.
                # TYPE millstream_edited_playlists_total counter
                millstream_edited_playlists_total{sources="edited"} 1
                millstream_edited_playlists_total{sources="fresh"} 2
                millstream_edited_playlists_total{sources="validated"} 0
                # HELP millstream_source_errors_total Sources that could not be loaded, by error code.
                # TYPE millstream_source_errors_total counter
                millstream_source_errors_total{code="http-status"} 1
                # HELP millstream_downloads_running Running downloads.
                # TYPE millstream_downloads_running gauge
                millstream_downloads_running 1
                # HELP millstream_event_listeners Open streams of events.
                # TYPE millstream_event_listeners gauge
                millstream_event_listeners 2
                # HELP millstream_connections Open connections.
                # TYPE millstream_connections gauge
                millstream_connections 3
                """
        )
    }

    @Test func metricsSystemOfTheApplicationReceivesTheMetrics() throws {
        let system = TestMetrics()
        let metrics = ServerMetrics(system: system)
        for _ in 0..<3 { metrics.count(path: "/segment/a", status: 302, duration: .milliseconds(250)) }
        metrics.count(path: "/play.m3u8", status: 200, duration: .seconds(2))
        metrics.countSourceError(.status)
        metrics.countPlaylist(.fresh)
        _ = metrics.text(downloads: 1, listeners: 2, connections: 3)
        let redirects = [("area", "segment"), ("status", "302")]
        #expect(try system.expectCounter("millstream_requests_total", redirects).totalValue == 3)
        let errors = [("code", "http-status")]
        #expect(try system.expectCounter("millstream_source_errors_total", errors).totalValue == 1)
        let fresh = [("sources", "fresh")]
        #expect(try system.expectCounter("millstream_edited_playlists_total", fresh).totalValue == 1)
        let timer = try system.expectTimer("millstream_request_duration_seconds", [("area", "play.m3u8")])
        #expect(timer.values == [2_000_000_000])
        #expect(try system.expectMeter("millstream_connections").values == [3])
    }

    @Test func durationsAreCumulative() {
        let metrics = ServerMetrics()
        for milliseconds in [1, 5, 6, 99, 2_000, 20_000] {
            metrics.count(path: "/segment/a", status: 200, duration: .milliseconds(milliseconds))
        }
        let text = metrics.text(downloads: 0, listeners: 0, connections: 0)
        let name = "millstream_request_duration_seconds"
        for (bound, count) in [("0.005", 2), ("0.01", 3), ("0.05", 3), ("0.1", 4), ("2.5", 5), ("10", 5), ("+Inf", 6)] {
            #expect(text.contains("\n\(name)_bucket{area=\"segment\",le=\"\(bound)\"} \(count)\n"), "\(bound)")
        }
        #expect(text.contains("\n\(name)_count{area=\"segment\"} 6\n"))
        #expect(text.contains("\n\(name)_sum{area=\"segment\"} 22.1"))
        #expect(text.contains("# TYPE \(name) histogram\n"))
    }
}

@Suite(.timeLimit(.minutes(10))) struct EventBroadcastTests {
    private func event(_ name: String) -> ServerEvent { ServerEvent(name: name, data: .fields(["n": .string(name)])) }

    @Test func eventsHaveTheServerSentEventFormat() {
        #expect(event("asset").text == "event: asset\ndata: {\"n\":\"asset\"}\n\n")
    }

    @Test func listenersReceiveLaterEvents() async {
        let broadcast = EventBroadcast()
        broadcast.send(event("missed"))
        var (first, second) = (broadcast.events().makeAsyncIterator(), broadcast.events().makeAsyncIterator())
        #expect(broadcast.listenerCount == 2)
        broadcast.send(event("a"))
        broadcast.send(event("b"))
        #expect(await first.next()?.name == "a")
        #expect(await first.next()?.name == "b")
        #expect(await second.next()?.name == "a")
        #expect(await second.next()?.name == "b")
    }

    @Test func slowListenerLosesTheOldestEvents() async {
        let broadcast = EventBroadcast()
        var events = broadcast.events().makeAsyncIterator()
        for number in 1...300 { broadcast.send(event("\(number)")) }
        #expect(await events.next()?.name == "45", "256 of 300 are left")
        for number in 46...300 { #expect(await events.next()?.name == "\(number)") }
    }

    @Test func cancelledListenerIsRemoved() async {
        let broadcast = EventBroadcast()
        let kept = broadcast.events()
        let listening = Task { [events = broadcast.events()] in for await _ in events {} }
        #expect(broadcast.listenerCount == 2)
        listening.cancel()
        await listening.value
        #expect(broadcast.listenerCount == 1)
        broadcast.send(event("a"))
        var iterator = kept.makeAsyncIterator()
        #expect(await iterator.next()?.name == "a")
    }
}

@Suite struct ListeningErrorTests {
    @Test(
        arguments: [
            (
                EADDRINUSE, "127.0.0.1", "cannot listen on 127.0.0.1:80: the port is in use by another program",
                "try another --port, or --port 0 for a free one"
            ),
            (
                EACCES, "::1", "cannot listen on [::1]:80: ports below 1024 require privileges",
                "try a --port above 1023"
            ),
            (
                EPERM, "localhost", "cannot listen on localhost:80: ports below 1024 require privileges",
                "try a --port above 1023"
            ),
            (
                EADDRNOTAVAIL, "192.0.2.1",
                "cannot listen on 192.0.2.1:80: this machine does not have the address",
                "try --host 127.0.0.1, or 0.0.0.0 for every address of this machine"
            ),
            (ENOMEM, "::", "cannot listen on [::]:80: Cannot allocate memory", nil),
        ] as [(CInt, String, String, String?)]
    )
    func systemErrorHasAMessageAndAHint(code: CInt, host: String, description: String, hint: String?) {
        let error = ListeningError(host: host, port: 80, code: code)
        #expect(error.description == description && error.hint == hint)
    }

    @Test(arguments: [("name.example", "name.example"), ("::1", "[::1]")])
    func invalidAddressHasAMessageAndAHint(host: String, written: String) {
        let error = ListeningError(host: host, port: 8_080, message: "the host cannot be resolved")
        #expect(error.description == "cannot listen on \(written):8080: the host cannot be resolved")
        #expect(error.hint == "--host must be an address of this machine")
    }
}

/// Tests that work for a client ends when the client disconnects.
@Suite(.timeLimit(.minutes(10))) struct ClientPresenceTests {
    /// Signals its start, and waits until the task is canceled.
    private static func waitForCancellation(_ begun: AsyncStream<Void>.Continuation) async throws {
        let (never, continuation) = AsyncStream<Void>.makeStream()
        begun.yield()
        for await _ in never {}
        withExtendedLifetime(continuation) {}
        try Task.checkCancellation()
    }

    @Test func workWithoutAClientCompletes() async throws {
        #expect(try await ClientPresence.whileClientIsConnected { 7 } == 7)
    }

    @Test func workForAConnectedClientCompletes() async throws {
        let presence = ClientPresence()
        try await ClientPresence.$current.withValue(presence) {
            let result = try await ClientPresence.whileClientIsConnected { 7 }
            #expect(result == 7)
            struct Failure: Error {}
            await #expect(throws: Failure.self) { try await ClientPresence.whileClientIsConnected { throw Failure() } }
        }
        presence.markDisconnected()
    }

    @Test func workForADisconnectedClientIsCancelledImmediately() async throws {
        let presence = ClientPresence()
        presence.markDisconnected()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        await ClientPresence.$current.withValue(presence) {
            await #expect(throws: CancellationError.self) {
                try await ClientPresence.whileClientIsConnected { try await Self.waitForCancellation(begin) }
            }
        }
        withExtendedLifetime(begun) {}
    }

    @Test func disconnectingCancelsAllWorkForAClient() async throws {
        let presence = ClientPresence()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do {
                        try await ClientPresence.$current.withValue(presence) {
                            try await ClientPresence.whileClientIsConnected {
                                try await Self.waitForCancellation(begin)
                            }
                        }
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
            }
            var iterator = begun.makeAsyncIterator()
            for _ in 0..<3 { await iterator.next() }
            presence.markDisconnected()
            for await isCancelled in group { #expect(isCancelled) }
        }
    }
}
