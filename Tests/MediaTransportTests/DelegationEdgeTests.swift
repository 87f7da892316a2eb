import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

/// A delegate that answers all requests at once.
private final class AnsweringDelegate: AssetResourceLoaderDelegate {
    private let answer: @Sendable (AssetResourceLoadingRequest) -> Void

    init(_ answer: @escaping @Sendable (AssetResourceLoadingRequest) -> Void) { self.answer = answer }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        answer(loadingRequest)
        return true
    }
}

/// Tests the statuses, lengths and redirects of the responses of a delegate.
@Suite(.timeLimit(.minutes(10))) struct DelegationEdgeTests {
    /// Sends a request to a delegate.
    private func send(
        _ request: TransportRequest,
        _ answer: @escaping @Sendable (AssetResourceLoadingRequest) -> Void
    ) async throws -> TransportResponse {
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let delegate = AnsweringDelegate(answer)
        loader.setDelegate(callingDirectly: delegate)
        let transport = DelegatedTransport(ScriptedTransport(), loader: loader, time: SystemTimeSource())
        let response = try await transport.send(request)
        withExtendedLifetime(delegate) {}
        return response
    }

    private static func request(range: ByteRange? = nil, headers: [HeaderField] = []) -> TransportRequest {
        TransportRequest(ResourceAddress("custom://h/0"), kind: .segment, byteRange: range, headers: headers)
    }

    @Test(arguments: [
        (199, false, false), (200, false, true), (299, false, true), (300, false, false), (304, false, false),
        (304, true, true), (305, true, false),
    ])
    func successfulStatusesAreReturned(status: Int, isConditional: Bool, isReturned: Bool) async throws {
        let request = Self.request(headers: isConditional ? [HeaderField("If-None-Match", "\"1\"")] : [])
        let answer: @Sendable (AssetResourceLoadingRequest) -> Void = { loading in
            loading.response = AssetResourceResponse(status: status)
            loading.finishLoading()
        }
        if isReturned {
            let response = try await send(request, answer)
            #expect(response.status == status && response.address == request.address)
        } else {
            let error = await #expect(throws: TransportError.self) { try await send(request, answer) }
            #expect(error?.code == .status && error?.status == status)
        }
    }

    @Test(
        arguments: [
            (10, nil, 10, 200), (nil, nil, nil, 200), (10, ByteRange(start: 4, length: 6), 6, 206),
            (8, ByteRange(start: 4, length: 6), 4, 206), (3, ByteRange(start: 4, length: 6), 0, 206),
            (nil, ByteRange(start: 4, length: 6), 6, 206),
        ] as [(Int64?, ByteRange?, Int64?, Int)]
    )
    func lengthIsThatOfTheRequestedBytes(content: Int64?, range: ByteRange?, length: Int64?, status: Int) async throws {
        for servesRanges in [true, false] {
            let response = try await send(Self.request(range: range)) { loading in
                loading.contentInformationRequest.contentLength = content
                loading.contentInformationRequest.isByteRangeAccessSupported = servesRanges
                loading.finishLoading()
            }
            #expect(response.expectedLength == length && response.status == status)
            #expect(response.header("Accept-Ranges") == (servesRanges ? nil : "none"))
        }
    }

    @Test(arguments: [(20, true), (21, false)])
    func twentyRedirectsAreFollowed(count: Int, isLoaded: Bool) async throws {
        let answer: @Sendable (AssetResourceLoadingRequest) -> Void = { loading in
            let number = Int(loading.request.address.text.dropFirst("custom://h/".count)) ?? 0
            if number < count {
                loading.redirect(to: ResourceAddress("custom://h/\(number + 1)"))
            } else {
                loading.finishLoading()
            }
        }
        if isLoaded {
            let response = try await send(Self.request(), answer)
            #expect(response.address.text == "custom://h/20")
        } else {
            let error = await #expect(throws: TransportError.self) { try await send(Self.request(), answer) }
            #expect(error?.code == .badRedirect && error?.message == "more than 20 redirects")
        }
    }
}
