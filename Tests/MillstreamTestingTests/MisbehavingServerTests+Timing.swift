import MillstreamTesting
import Testing

/// Tests the timing and the endings of responses.
extension MisbehavingServerTests {
    @Suite struct Endings {
        typealias Outer = MisbehavingServerTests

        private let short = Duration.milliseconds(60)

        // MARK: Timing

        @Test func headIsDelayed() async throws {
            let exchange = try await Outer.ask(.delay(.milliseconds(80)))
            let first = try #require(exchange.arrivals.first)
            #expect(first.time >= .milliseconds(80) && exchange.body == Outer.letters)
        }

        @Test func bodyIsThrottled() async throws {
            let bytes = Array(Outer.long.prefix(20_000))
            let exchange = try await Outer.ask(.throttle(bytesPerSecond: 100_000), bytes: bytes)
            #expect(exchange.body.elementsEqual(bytes) && exchange.arrivals.count > 1)
            #expect((.milliseconds(190)...(.seconds(5))).contains(exchange.duration))
        }

        @Test func bodyIsSentByteByByte() async throws {
            let exchange = try await Outer.ask(.trickle(every: .milliseconds(10)))
            #expect(exchange.body == Outer.letters && exchange.duration >= .milliseconds(90))
            let first = try await Outer.ask(
                .trickle(every: .seconds(60)),
                clientOptions: .init(timeout: short, after: "\na")
            )
            #expect(first.bodyText == "a" && first.ending == .leftOpen)
        }

        @Test func headIsSentByteByByte() async throws {
            let exchange = try await Outer.ask(.slowHead(every: .milliseconds(1)))
            #expect(exchange.body == Outer.letters)
            #expect(exchange.duration >= .milliseconds(exchange.head.utf8.count - 1))
            let first = try await Outer.ask(
                .slowHead(every: .seconds(60)),
                clientOptions: .init(timeout: short, after: "H")
            )
            #expect(first.text == "H" && first.ending == .leftOpen)
        }

        // MARK: Endings during a response

        @Test(arguments: [0, 4, 10]) func bodyIsTruncated(count: Int) async throws {
            let exchange = try await Outer.ask(.truncate(after: count), isLast: false)
            #expect(exchange.header("Content-Length") == "10" && exchange.ending == .closed)
            #expect(exchange.body == Array(Outer.letters.prefix(count)) && exchange.header("Connection") == nil)
        }

        @Test(arguments: [0, 4, 150_000]) func connectionIsResetDuringTheBody(count: Int) async throws {
            let exchange = try await Outer.ask(.reset(after: count), bytes: Outer.long)
            #expect(exchange.header("Content-Length") == "200000" && exchange.ending == .reset)
            #expect(exchange.body.elementsEqual(Outer.long.prefix(count)))
        }

        @Test func bodyStalls() async throws {
            let exchange = try await Outer.ask(.stall(after: 4), clientOptions: .init(timeout: short, after: "\nabcd"))
            #expect(exchange.bodyText == "abcd" && exchange.ending == .leftOpen)
        }

        @Test func connectionClosesOrStallsBeforeTheHead() async throws {
            let closed = try await Outer.ask(.closeBeforeHead)
            #expect(closed.bytes.isEmpty && closed.ending == .closed)
            let reset = try await Outer.ask([.delay(.milliseconds(10)), .resetBeforeHead])
            #expect(reset.bytes.isEmpty && reset.ending == .reset)
            let stalled = try await Outer.ask(.stallBeforeHead, clientOptions: .init(timeout: short))
            #expect(stalled.bytes.isEmpty && stalled.ending == .leftOpen)
        }

        @Test func endingTakesPrecedenceOverFraming() async throws {
            let exchange = try await Outer.ask([.reset(after: 3), .noLength, .closeAfterResponse])
            #expect(exchange.bodyText == "abc" && exchange.ending == .reset)
        }

        // MARK: Endings between responses

        @Test func connectionIsPersistentByDefault() async throws {
            let kept = try await Outer.ask(.proper, isLast: false, clientOptions: .init(timeout: short, after: "hij"))
            #expect(kept.ending == .leftOpen && kept.header("Connection") == nil)
            let closed = try await Outer.ask(.closeAfterResponse, isLast: false)
            #expect(closed.ending == .closed && closed.header("Connection") == "close")
        }

        @Test(arguments: [Exchange.Ending.closed, .reset])
        func persistentConnectionClosesWhenTheNextRequestArrives(ending: Exchange.Ending) async throws {
            let behavior: MisbehavingServer.Behavior = ending == .reset ? .resetIdle : .closeIdle
            try await MisbehavingServer.withServer(["/a": .init(Outer.letters)]) { server in
                server.behave("/a", behavior, .status(201), .proper)
                let both = Outer.get(isLast: false) + Outer.get("/a?again", isLast: false)
                let exchange = try await RawClient.send(both, to: server)
                #expect(exchange.status == 200 && exchange.body == Outer.letters && exchange.ending == ending)
                #expect(try await RawClient.send(Outer.get("/a?again"), to: server).status == 201)
                #expect(server.requests.map(\.target) == ["/a", "/a?again", "/a?again"])
                #expect(server.requests.map(\.isDropped) == [false, true, false])
                #expect(server.requests.map(\.connection) == [1, 1, 2])
            }
        }

        @Test func persistentConnectionClosesAfterAnIdleTime() async throws {
            let exchange = try await Outer.ask(.closeIdle(after: .milliseconds(60)), isLast: false)
            #expect(exchange.body == Outer.letters && exchange.header("Connection") == nil)
            #expect(exchange.ending == .closed && exchange.duration >= .milliseconds(60))
        }

        @Test func reusedConnectionIsNotIdle() async throws {
            try await MisbehavingServer.withServer(["/a": .init(Outer.letters)]) { server in
                server.behave("/a", .closeIdle(after: .milliseconds(30)), .delay(.milliseconds(120)))
                let exchange = try await RawClient.send(Outer.get(isLast: false) + Outer.get(), to: server)
                #expect(exchange.text.ranges(of: "abcdefghij").count == 2 && exchange.ending == .closed)
            }
        }

        @Test(.enabled(if: Curl.isInstalled)) func curlRetriesWhenAPersistentConnectionCloses() async throws {
            try await MisbehavingServer.withServer(["/a": .init(Outer.letters), "/b": .init(Outer.long)]) { server in
                server.behave("/b", .closeIdle)
                let both = [server.address("b"), "-o", "/dev/null"]
                let outcome = try await Curl.get(server.address("a"), both)
                #expect(outcome.status == 0 && outcome.bytes.elementsEqual(Outer.long))
                #expect(server.requests.map(\.path) == ["/b", "/a", "/a"])
                #expect(server.requests.map(\.isDropped) == [false, true, false])
            }
        }
    }
}
