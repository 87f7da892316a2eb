import MillstreamTesting
import Testing

/// Tests the correct behavior of the server.
extension MisbehavingServerTests {
    @Suite struct Resources {
        typealias Outer = MisbehavingServerTests

        /// Requests a resource of ten letters at `/a`.
        private func ask(
            _ fields: String...,
            method: String = "GET",
            validators: MisbehavingServer.Resource.Validators = [.entityTag, .lastModified],
            servesRanges: Bool = true
        ) async throws -> Exchange {
            let resource = MisbehavingServer.Resource(
                Outer.letters,
                contentType: "video/mp2t",
                headers: ["X-One": "1", "X-One": "2"],
                validators: validators,
                servesRanges: servesRanges
            )
            let all = (fields + ["Connection: close"]).map { $0 + "\r\n" }.joined()
            return try await MisbehavingServer.withServer(["/a": resource]) { server in
                try await RawClient.send(Array("\(method) /a HTTP/1.1\r\n\(all)\r\n".utf8), to: server)
            }
        }

        private let tag = MisbehavingServer.Resource(Outer.letters).entityTag ?? ""
        private let date = MisbehavingServer.Resource(Outer.letters).lastModified ?? ""

        @Test func resourceHasItsHeaderFields() async throws {
            let exchange = try await ask()
            #expect(
                exchange.head == """
                    HTTP/1.1 200 OK\r
                    Content-Type: video/mp2t\r
                    Accept-Ranges: bytes\r
                    ETag: \(tag)\r
                    Last-Modified: \(date)\r
                    X-One: 1\r
                    X-One: 2\r
                    Connection: close\r
                    Content-Length: 10\r
                    \r

                    """
            )
            #expect(exchange.body == Outer.letters && exchange.ending == .closed)
        }

        @Test(
            arguments: [
                ("bytes=2-4", 206, "cde", "bytes 2-4/10"), ("bytes=7-", 206, "hij", "bytes 7-9/10"),
                ("bytes=-2", 206, "ij", "bytes 8-9/10"), ("bytes=-99", 206, "abcdefghij", "bytes 0-9/10"),
                ("Bytes=0-99999", 206, "abcdefghij", "bytes 0-9/10"), ("bytes=9-9", 206, "j", "bytes 9-9/10"),
                ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
                ("bytes=4-2", 200, "abcdefghij", nil), ("bytes=a-b", 200, "abcdefghij", nil),
                ("bytes=+1-2", 200, "abcdefghij", nil), ("lines=1-2", 200, "abcdefghij", nil),
                ("bytes=1-99999999999999999999", 200, "abcdefghij", nil),
                ("bytes=20-30, 1-2", 206, "bc", "bytes 1-2/10"),
            ] as [(String, Int, String, String?)]
        )
        func rangesAreServed(range: String, status: Int, body: String, label: String?) async throws {
            let exchange = try await ask("Range: \(range)")
            #expect(exchange.status == status && exchange.bodyText == body)
            #expect(exchange.header("Content-Range") == label && exchange.header("Content-Length") == "\(body.count)")
        }

        @Test func severalRangesAreSentAsMultipart() async throws {
            let exchange = try await ask("Range: bytes=0-1,8-")
            let type = try #require(exchange.header("Content-Type"))
            #expect(exchange.status == 206 && type.hasPrefix("multipart/byteranges; boundary="))
            let boundary = type.drop { $0 != "=" }.dropFirst()
            let part = "\r\n--\(boundary)\r\nContent-Type: video/mp2t\r\nContent-Range: bytes "
            #expect(exchange.bodyText == "\(part)0-1/10\r\n\r\nab\(part)8-9/10\r\n\r\nij\r\n--\(boundary)--\r\n")
        }

        @Test func rangesAreServedOnlyForGETIfEnabled() async throws {
            let whole = try await ask("Range: bytes=1-2", servesRanges: false)
            #expect(whole.status == 200 && whole.header("Accept-Ranges") == "none" && whole.body == Outer.letters)
            let head = try await ask("Range: bytes=1-2", method: "HEAD")
            #expect(head.status == 200 && head.header("Content-Length") == "10" && head.body.isEmpty)
        }

        @Test func rangeIsServedIfTheStrongValidatorMatches() async throws {
            #expect(try await ask("Range: bytes=1-2", "If-Range: \(tag)").status == 206)
            #expect(try await ask("Range: bytes=1-2", "If-Range: \(date)").status == 206)
            #expect(try await ask("Range: bytes=1-2", "If-Range: \"other\"").status == 200)
            #expect(try await ask("Range: bytes=1-2", "If-Range: Wed, 01 Jan 2020 00:00:00 GMT").status == 200)
            let weak = try await ask("Range: bytes=1-2", "If-Range: W/\(tag)", validators: .weakEntityTag)
            #expect(weak.status == 200 && weak.header("ETag") == "W/\(tag)" && weak.header("Last-Modified") == nil)
        }

        @Test func unchangedResourceIsNotSentAgain() async throws {
            for field in ["If-None-Match: \(tag)", "If-None-Match: \"x\", W/\(tag)", "If-None-Match: *"] {
                let exchange = try await ask(field)
                #expect(exchange.status == 304 && exchange.body.isEmpty && exchange.header("ETag") == tag)
                #expect(exchange.header("Content-Length") == nil)
            }
            #expect(try await ask("If-Modified-Since: \(date)").status == 304)
            #expect(try await ask("If-None-Match: \"x\"", "If-Modified-Since: \(date)").status == 200)
            #expect(try await ask("If-None-Match: \(tag)", validators: []).status == 200)
        }

        @Test func otherMethodsAndPathsAreRejected() async throws {
            let post = try await ask(method: "POST")
            #expect(post.status == 405 && post.header("Allow") == "GET, HEAD")
            try await MisbehavingServer.withServer { server in
                let missing = try await RawClient.send(Outer.get("/b"), to: server)
                #expect(missing.status == 404)
                #expect(server.address("b?c") == "http://127.0.0.1:\(server.port)/b?c")
            }
        }

        @Test func resourceCanBeReplacedWhileTheServerRuns() async throws {
            try await MisbehavingServer.withServer(["/a": .text("one")]) { server in
                let one = try await RawClient.send(Outer.get(), to: server)
                server.set("a", .text("two"))
                let two = try await RawClient.send(Outer.get(), to: server)
                #expect(one.bodyText == "one" && two.bodyText == "two" && one.header("ETag") != two.header("ETag"))
            }
        }

        @Test(.enabled(if: Curl.isInstalled)) func curlLoadsRangesAndResumes() async throws {
            try await MisbehavingServer.withServer(["/a": .init(Outer.long)]) { server in
                let range = try await Curl.get(server.address("a"), ["--range", "100-299"])
                #expect(range.status == 0 && range.bytes.elementsEqual(Outer.long[100..<300]))
                server.behave("/a", .truncate(after: 150_000), .proper)
                let first = try await Curl.get(server.address("a"))
                #expect(first.status == 18 && first.bytes.elementsEqual(Outer.long.prefix(150_000)))
                let whole = try await Curl.get(server.address("a"), ["-C", "-"], start: first.bytes)
                #expect(whole.status == 0 && whole.bytes.elementsEqual(Outer.long))
                #expect(server.requests.last?.header("Range") == "bytes=150000-")
            }
        }
    }
}
