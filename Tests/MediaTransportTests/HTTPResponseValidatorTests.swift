import AsyncHTTPClient
import MediaTiming
import NIOCore
import NIOHTTP1
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the validation of the head of a response against its request, without a connection.
@Suite struct HTTPResponseValidatorTests {
    private static let address = ResourceAddress("http://h/a")

    /// Returns the response with a body of ten bytes, as a client receives it.
    private func validated(
        _ fields: [(String, String)],
        status: Int = 200,
        of request: TransportRequest = TransportRequest(address, kind: .playlist)
    ) throws -> TransportResponse {
        let response = HTTPClientResponse(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: status),
            headers: HTTPHeaders(fields),
            body: .bytes(ByteBuffer(string: "0123456789")),
            history: []
        )
        let lease = HTTPClientPool.Lease(HTTPClient.shared) {}
        return try HTTPResponseValidator(response, request, Self.address, TransferRecord(), lease).validatedResponse()
    }

    /// Returns the error that refuses a response; `nil` if it is accepted.
    private func refusal(
        _ fields: [(String, String)],
        status: Int = 200,
        of request: TransportRequest = TransportRequest(address, kind: .playlist)
    ) throws -> TransportError? {
        do {
            _ = try validated(fields, status: status, of: request)
            return nil
        } catch let error as TransportError {
            return error
        }
    }

    private static func request(range: ByteRange? = nil, headers: [HeaderField] = []) -> TransportRequest {
        TransportRequest(address, kind: .segment, byteRange: range, headers: headers)
    }

    private static func request(
        resuming offset: Int64,
        validator: String = "\"1\"",
        range: ByteRange? = nil
    ) -> TransportRequest {
        var request = request(range: range)
        request.resumption = TransportRequest.Resumption(offset: offset, validator: validator, totalLength: 10)
        return request
    }

    // MARK: Complete responses

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("10", 10), ("-1", nil), ("x", nil), ("", nil), ("99999999999999999999", nil),
        ] as [(String, Int64?)]
    )
    func lengthIsThatOfContentLength(text: String, length: Int64?) throws {
        let response = try validated([("Content-Length", text)])
        #expect(response.status == 200 && response.expectedLength == length)
        let unknown = try validated([])
        #expect(unknown.expectedLength == nil)
    }

    @Test(arguments: ["gzip", "deflate", "GZIP", " gzip", "gzip\t", "\tdeflate "])
    func lengthOfACompressedBodyIsUnknown(encoding: String) throws {
        let response = try validated([("Content-Encoding", encoding), ("Content-Length", "10"), ("ETag", "\"1\"")])
        #expect(response.expectedLength == nil && response.headers == [HeaderField("ETag", "\"1\"")])
    }

    @Test(arguments: ["identity", "", " Identity\t"])
    func bodyWithoutCompressionHasItsLength(encoding: String) throws {
        let response = try validated([("Content-Encoding", encoding), ("Content-Length", "10")])
        #expect(response.expectedLength == 10 && response.headers.count == 2)
    }

    @Test(arguments: ["br", "gzip, deflate", "identity, gzip", "compress"])
    func otherEncodingsAreRefused(encoding: String) throws {
        let error = try refusal([("Content-Encoding", encoding)])
        #expect(error?.code == .wrongContent && error?.message.contains("unsupported content encoding") == true)
    }

    @Test func rangeIsExtractedFromAWholeResource() async throws {
        let range = ByteRange(start: 4, length: 6)
        let response = try validated(
            [("Content-Length", "10"), ("Content-Type", "video/mp2t")],
            of: Self.request(range: range)
        )
        #expect(response.status == 206 && response.expectedLength == 6)
        #expect(response.headers == [HeaderField("Content-Type", "video/mp2t")])
        let bytes = try await response.wholeBody()
        #expect(bytes == Array("456789".utf8))
        #expect(response.record.measurement.skippedBytes == ByteCount(4))
    }

    @Test func rangeBehindTheEndIsRefused() async throws {
        let range = ByteRange(start: 4, length: 7)
        #expect(try refusal([("Content-Length", "10")], of: Self.request(range: range))?.code == .wrongContent)
        // The length of a compressed body is not that of the resource.
        let compressed = [("Content-Length", "3"), ("Content-Encoding", "gzip")]
        #expect(try validated(compressed, of: Self.request(range: range)).expectedLength == 7)
        // Without a length, the end of the body shows it.
        let unknown = try validated([], of: Self.request(range: range))
        let error = await #expect(throws: TransportError.self) { try await unknown.wholeBody() }
        #expect(error?.code == .wrongContent)
    }

    // MARK: Partial responses

    @Test(
        arguments: [
            ("bytes 2-5/10", "4", true), ("bytes 2-5/10", nil, true), ("bytes 2-5/*", "4", true),
            ("bytes 2-5/10", "3", false), ("bytes 2-5/10", "5", false), ("bytes 1-5/10", "5", false),
            ("bytes 3-5/10", "3", false), ("bytes 2-4/10", "3", false), ("bytes 2-6/10", "5", false),
            ("bytes", "4", false), (nil, "4", false),
        ] as [(String?, String?, Bool)]
    )
    func partialResponseHasTheRequestedRange(range: String?, length: String?, isAccepted: Bool) throws {
        let fields = [("Content-Range", range), ("Content-Length", length)].compactMap { name, value in
            value.map { (name, $0) }
        }
        let request = Self.request(range: ByteRange(start: 2, length: 4))
        let error = try refusal(fields, status: 206, of: request)
        #expect(error?.code == (isAccepted ? nil : .wrongContent))
        if isAccepted {
            let response = try validated(fields, status: 206, of: request)
            #expect(response.status == 206 && response.expectedLength == 4)
        }
    }

    @Test(
        arguments: [
            ("bytes 4-9/10", nil), ("bytes 4-9/*", nil), ("bytes 4-8/10", .wrongContent),
            ("bytes 3-9/10", .wrongContent), ("bytes 5-9/10", .wrongContent), ("bytes 4-10/11", .contentChanged),
            ("bytes 4-8/9", .contentChanged),
        ] as [(String, TransportError.Code?)]
    )
    func restReachesToTheEndOfTheSameResource(range: String, code: TransportError.Code?) throws {
        let request = Self.request(resuming: 4)
        #expect(try refusal([("Content-Range", range)], status: 206, of: request)?.code == code)
    }

    @Test func restOfARangeEndsWithTheRange() throws {
        let request = Self.request(resuming: 3, range: ByteRange(start: 2, length: 6))
        #expect(try validated([("Content-Range", "bytes 5-7/10")], status: 206, of: request).expectedLength == 3)
        for range in ["bytes 5-8/10", "bytes 2-7/10", "bytes 3-7/10"] {
            #expect(try refusal([("Content-Range", range)], status: 206, of: request)?.code == .wrongContent)
        }
    }

    private static let (noon, noonInAnotherForm) = ("Mon, 02 Mar 2026 12:00:00 GMT", "Monday, 02-Mar-26 12:00:00 GMT")

    @Test(
        arguments: [
            ("\"1\"", "ETag", "\"1\"", true), ("\"1\"", "ETag", "W/\"1\"", true), ("\"1\"", "ETag", "\"2\"", false),
            ("\"1\"", "X-Other", "\"2\"", true), (noon, "Last-Modified", noon, true),
            (noon, "Last-Modified", noonInAnotherForm, true),
            (noon, "Last-Modified", "Mon, 02 Mar 2026 12:00:01 GMT", false), (noon, "ETag", "\"2\"", true),
            ("some day", "Last-Modified", "some day", true), ("some day", "Last-Modified", "another day", false),
            (noon, "Last-Modified", "another day", false),
        ]
    )
    func restOfAChangedResourceIsRefused(validator: String, name: String, value: String, isSame: Bool) throws {
        let fields = [("Content-Range", "bytes 4-9/10"), (name, value)]
        let error = try refusal(fields, status: 206, of: Self.request(resuming: 4, validator: validator))
        #expect(error?.code == (isSame ? nil : .contentChanged))
    }

    @Test func partialResponseNeedsARequestForAPart() throws {
        #expect(try refusal([], status: 206)?.code == .wrongContent)
        let asking = Self.request(headers: [HeaderField("range", "bytes=0-9")])
        #expect(try validated([("Content-Length", "10")], status: 206, of: asking).expectedLength == 10)
        let several = [("Content-Type", "Multipart/ByteRanges; boundary=x"), ("Content-Range", "bytes 0-9/10")]
        #expect(try refusal(several, status: 206, of: asking)?.code == .wrongContent)
        let whole = Self.request(range: ByteRange(start: 0, length: 10))
        let compressed = [("Content-Encoding", "gzip"), ("Content-Range", "bytes 0-9/10")]
        #expect(try refusal(compressed, status: 206, of: whole)?.code == .wrongContent)
    }

    // MARK: Other statuses

    @Test func unchangedResourceIsTheResponseToAConditionOnly() throws {
        let conditional = Self.request(headers: [HeaderField("If-None-Match", "\"1\"")])
        let response = try validated([("ETag", "\"1\"")], status: 304, of: conditional)
        #expect(response.status == 304 && response.expectedLength == 0 && response.header("ETag") == "\"1\"")
        let error = try refusal([], status: 304)
        #expect(error?.code == .status && error?.status == 304)
    }

    @Test(arguments: [200, 412, 416])
    func statusShowsThatTheResourceHasChanged(status: Int) throws {
        let error = try refusal([("Content-Length", "10")], status: status, of: Self.request(resuming: 4))
        #expect(error?.code == .contentChanged && error?.status == status)
        // Without a resumption, the other statuses are failures like any.
        #expect(try refusal([], status: status)?.code == (status == 200 ? nil : .status))
    }

    @Test(arguments: [204, 300, 404, 503])
    func otherStatusesAreErrorsWithTheirHeaderFields(status: Int) throws {
        let error = try refusal([("Retry-After", "7"), ("X-A", "1"), ("X-A", "2")], status: status)
        #expect(error?.code == .status && error?.status == status && error?.retryAfter == .seconds(7))
        #expect(error?.headerFields["X-A"] == "1, 2" && error?.address == Self.address)
    }
}
