import MillstreamTesting
import Testing

/// Tests each behavior as observed by a client.
extension MisbehavingServerTests {
    @Suite struct Behaviours {
        typealias Outer = MisbehavingServerTests
        typealias Behavior = MisbehavingServer.Behavior

        // MARK: Content of responses

        @Test func statusHasItsHeaderFieldsAndBody() async throws {
            let exchange = try await Outer.ask(.status(429, headers: ["Retry-After": "2", "A": "b"], body: [0x78]))
            #expect(
                exchange.text == """
                    HTTP/1.1 429 Too Many Requests\r
                    Retry-After: 2\r
                    A: b\r
                    Connection: close\r
                    Content-Length: 1\r
                    \r
                    x
                    """
            )
            let broken = try await Outer.ask(.status(200, headers: ["Content-Length": "x"], body: [0x78]))
            #expect(broken.head.components("Content-Length") == 1 && broken.header("Content-Length") == "x")
        }

        @Test func htmlPageIsSentInsteadOfMedia() async throws {
            let page = try await Outer.ask(.htmlPage)
            #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
            #expect(page.bodyText.hasPrefix("<!DOCTYPE html>") && page.header("ETag") == nil)
            #expect(try await Outer.ask(.htmlPage(as: "video/mp2t")).header("Content-Type") == "video/mp2t")
        }

        @Test func redirectsMayLoopOrHaveNoLocation() async throws {
            let away = try await Outer.ask(.redirect(to: "../b c?d", status: 307))
            #expect(away.status == 307 && away.header("Location") == "../b c?d" && away.body.isEmpty)
            let loop = try await Outer.ask(.redirectLoop)
            #expect(loop.status == 302 && loop.header("Location") == "/a")
            let nowhere = try await Outer.ask(.redirectWithoutLocation)
            #expect(nowhere.status == 302 && nowhere.header("Location") == nil)
        }

        @Test func changedEntityPersistsAndPreventsResumption() async throws {
            try await MisbehavingServer.withServer(["/a": .init(Outer.letters)]) { server in
                let old = try await RawClient.send(Outer.get(), to: server)
                let tag = try #require(old.header("ETag"))
                server.behave("/a", .changedEntity, .proper, .changedEntity(to: .text("new")))
                let new = try await RawClient.send(Outer.get("/a", "Range: bytes=5-", "If-Range: \(tag)"), to: server)
                #expect(new.status == 200 && new.body == Outer.letters.map { ~$0 })
                #expect(new.header("ETag") != tag && new.header("Last-Modified") != old.header("Last-Modified"))
                #expect(try await RawClient.send(Outer.get(), to: server).header("ETag") == new.header("ETag"))
                #expect(try await RawClient.send(Outer.get(), to: server).bodyText == "new")
            }
        }

        @Test(
            arguments: [
                (.shifted(by: 3), 206, "fgh", "bytes 5-7/10"), (.shifted(by: -9), 206, "abc", "bytes 0-2/10"),
                (.shifted(by: .max), 206, "j", "bytes 9-9/10"), (.wrongContentRange(by: 1), 206, "cde", "bytes 3-5/10"),
                (.fewer(by: 2), 206, "c", "bytes 2-2/10"), (.wrongTotal(by: -4), 206, "cde", "bytes 2-4/6"),
                (.withoutContentRange, 206, "cde", nil), (.ignored, 200, "abcdefghij", nil),
                (.refused, 416, "", "bytes */10"), (.unrequested, 206, "cde", "bytes 2-4/10"),
            ] as [(Behavior.RangeMistake, Int, String, String?)]
        )
        func wrongRangesAreSent(mistake: Behavior.RangeMistake, status: Int, body: String, label: String?) async throws
        {
            let exchange = try await Outer.ask(.wrongRange(mistake), "Range: bytes=2-4")
            #expect(exchange.status == status && exchange.bodyText == body)
            #expect(exchange.header("Content-Range") == label && exchange.header("Content-Length") == "\(body.count)")
        }

        @Test func rangeMayContainOtherBytesBeMultipartOrUnrequested() async throws {
            let other = try await Outer.ask(.wrongRange(.wrongBytes), "Range: bytes=2-4")
            #expect(other.header("Content-Range") == "bytes 2-4/10" && other.body == Outer.letters[2...4].map { ~$0 })
            let parts = try await Outer.ask(.wrongRange(.multipart), "Range: bytes=2-4")
            #expect(parts.header("Content-Type")?.hasPrefix("multipart/byteranges") == true && parts.status == 206)
            #expect(parts.bodyText.contains("Content-Range: bytes 2-4/10\r\n\r\ncde\r\n--"))
            let unasked = try await Outer.ask(.wrongRange(.unrequested))
            #expect(unasked.status == 206 && unasked.header("Content-Range") == "bytes 0-9/10")
            #expect(try await Outer.ask(.wrongRange(.ignored)).status == 200)
        }

        @Test(.enabled(if: Curl.isInstalled), arguments: [0, 10, 65_535, 65_536, 200_000])
        func gzipExpandsToTheContent(size: Int) async throws {
            let bytes = Array(Outer.long.prefix(size))
            try await MisbehavingServer.withServer(["/a": .init(bytes)]) { server in
                server.behave("/a", .gzip)
                let outcome = try await Curl.get(server.address("a"), ["--compressed"])
                #expect(outcome.status == 0 && outcome.bytes.elementsEqual(bytes))
            }
        }

        @Test(.enabled(if: Curl.isInstalled), arguments: [0, 1, 2, 258, 259, 260, 2000, 32 << 20])
        func gzipBombExpandsToTheGivenSize(size: Int) async throws {
            try await MisbehavingServer.withServer(["/a": .init([])]) { server in
                server.behave("/a", .gzipBomb(expandedTo: size))
                let outcome = try await Curl.get(server.address("a"), ["--compressed"])
                #expect(outcome.status == 0 && outcome.bytes.count == size)
                #expect(outcome.bytes.first == (size > 0 ? 0x20 : nil) && outcome.bytes.last == outcome.bytes.first)
            }
        }

        @Test func gzipBombIsSmallAndHasAContentEncoding() async throws {
            let bomb = try await Outer.ask(.gzipBomb(expandedTo: 64 << 20), "Range: bytes=1-2")
            #expect(bomb.status == 200 && bomb.header("Content-Encoding") == "gzip" && bomb.body.count < 70_000)
            #expect(bomb.header("ETag")?.hasSuffix("-gzip\"") == true && bomb.header("Content-Range") == nil)
            let whole = try await Outer.ask(.gzip, "Range: bytes=1-2")
            #expect(whole.status == 200 && whole.body.count == 10 + 5 + 10 + 8)
        }

        // MARK: Framing

        @Test func contentLengthMayBeTooLargeOrTooSmall() async throws {
            let more = try await Outer.ask(
                .wrongLength(5),
                isLast: false,
                clientOptions: .init(timeout: .milliseconds(60), after: "hij")
            )
            #expect(more.header("Content-Length") == "15" && more.body == Outer.letters && more.ending == .leftOpen)
            let less = try await Outer.ask(.wrongLength(-4))
            #expect(less.header("Content-Length") == "6" && less.body == Outer.letters && less.ending == .closed)
            #expect(try await Outer.ask(.wrongLength(.min)).header("Content-Length") == "0")
        }

        @Test func bodyIsSentInChunks() async throws {
            let exchange = try await Outer.ask(.chunked(size: 4))
            #expect(exchange.header("Transfer-Encoding") == "chunked" && exchange.header("Content-Length") == nil)
            #expect(exchange.bodyText == "4\r\nabcd\r\n4\r\nefgh\r\n2\r\nij\r\n0\r\n\r\n")
            #expect(try await Outer.ask([.chunked, .truncate(after: 3)]).bodyText == "3\r\nabc\r\n")
        }

        @Test func brokenChunkIsSent() async throws {
            let exchange = try await Outer.ask(.brokenChunk(after: 3), isLast: false)
            #expect(exchange.bodyText == "3\r\nabc\r\nno size\r\ndefghij" && exchange.ending == .closed)
            #expect(try await Outer.ask(.brokenChunk(after: 0), isLast: false).bodyText == "no size\r\nabcdefghij")
        }

        @Test(.enabled(if: Curl.isInstalled)) func curlReadsChunksAndRejectsBrokenOnes() async throws {
            try await MisbehavingServer.withServer(["/a": .init(Outer.long)]) { server in
                server.behave("/a", .chunked(size: 777), .brokenChunk(after: 10))
                let whole = try await Curl.get(server.address("a"))
                #expect(whole.status == 0 && whole.bytes.elementsEqual(Outer.long))
                #expect(try await Curl.get(server.address("a")).status == 56)
            }
        }

        @Test func aBodyWithoutLengthEndsWithTheConnection() async throws {
            let exchange = try await Outer.ask(.noLength, isLast: false)
            #expect(exchange.header("Content-Length") == nil && exchange.header("Transfer-Encoding") == nil)
            #expect(exchange.body == Outer.letters && exchange.ending == .closed)
        }

        @Test func informationalResponsesPrecedeTheFinalResponse() async throws {
            let exchange = try await Outer.ask([
                .informational(100), .delay(.milliseconds(10)), .informational(103, headers: ["Link": "</b>"]),
            ])
            let start = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\nHTTP/1.1 200 OK\r\n"
            #expect(exchange.text.hasPrefix(start) && exchange.text.hasSuffix("abcdefghij"))
            let before = try await Outer.ask(
                [.informational(100), .delay(.seconds(60))],
                clientOptions: .init(byteLimit: 25)
            )
            #expect(before.text == "HTTP/1.1 100 Continue\r\n\r\n" && before.ending == .leftOpen)
        }

        @Test func garbageIsSentInsteadOfHTTP() async throws {
            let exchange = try await Outer.ask(.garbage, isLast: false)
            #expect(!exchange.bytes.isEmpty && !exchange.text.hasPrefix("HTTP") && exchange.ending == .closed)
            #expect(try await Outer.ask(.garbage([1, 2, 3])).bytes == [1, 2, 3])
        }

        @Test func endlessHeadIsSent() async throws {
            let exchange = try await Outer.ask(.endlessHead, clientOptions: .init(byteLimit: 300_000))
            #expect(exchange.text.hasPrefix("HTTP/1.1 200 OK\r\n") && exchange.body.isEmpty)
            #expect(exchange.ending == .leftOpen && exchange.bytes.count >= 300_000)
        }

        @Test func endlessBodyIsSent() async throws {
            let exchange = try await Outer.ask(.endlessBody, clientOptions: .init(byteLimit: 300_000))
            #expect(exchange.header("Content-Length") == nil && exchange.bodyText.hasPrefix("abcdefghijabcdefghijab"))
            let chunks = try await Outer.ask([.chunked, .endlessBody], clientOptions: .init(byteLimit: 300_000))
            #expect(chunks.bodyText.hasPrefix("a\r\nabcdefghij\r\na\r\nabcdefghij\r\na\r\n"))
            #expect(try await Outer.ask([.endlessBody, .reset(after: 23)]).bodyText == "abcdefghijabcdefghijabc")
        }
    }
}

extension String {
    /// Returns the number of occurrences of a text.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
