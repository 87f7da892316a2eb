import HTTPTypes
import MediaTransport
import Testing

@testable import MillstreamServer

/// Tests which requests have equal responses.
@Suite struct RepeatedRequestTests {
    private func request(
        _ fields: HTTPFields = [.userAgent: "player"],
        target: String = "/play.m3u8?url=a",
        method: HTTPRequest.Method = .get,
        authority: String = "media.example",
        isForwarded: Bool = false
    ) -> RepeatedRequest? {
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: target,
            headerFields: fields
        )
        return RepeatedRequest(head, isForwarded: isForwarded)
    }

    @Test func allThatTheResponseCanDependOnIsCompared() throws {
        let first = try #require(request())
        #expect(request() == first)
        #expect(request(target: "/play.m3u8?url=b") != first && request(authority: "other.example") != first)
        #expect(request([.userAgent: "other"]) != first && request([:]) != first)
        #expect(request([.userAgent: "player", .origin: "https://other.example"]) != first)
        #expect(request([.userAgent: "player", .ifNoneMatch: "\"1\""]) != first)
        #expect(request(isForwarded: true) != first)
    }

    @Test func otherRequestsAreDelivered() {
        #expect(request(target: "/health") == nil && request(target: "/play.m3u8") == nil)
        #expect(request(target: "/play.m3u8x?url=a") == nil)
        #expect(request(method: .head) == nil && request(method: .post) == nil)
        #expect(request([.connection: "close"]) == nil && request([.connection: "Keep-Alive"]) != nil)
        #expect(request([.contentLength: "0"]) == nil && request([.transferEncoding: "chunked"]) == nil)
        #expect(request([.expect: "100-continue"]) == nil && request([.upgrade: "h2c"]) == nil)
        #expect(request(target: "/play.m3u8?url=" + String(repeating: "a", count: 9_000)) == nil)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ])
    func datesHaveThePreferredForm(time: Int64, text: String) {
        #expect(CurrentDateField.text(of: UnixSeconds(time)) == text)
        #expect(HTTPDate.seconds(text) == time)
    }
}
