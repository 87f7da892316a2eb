import MediaTiming
public import NIOCore
public import ResourceAddressing
import Synchronization

/// A request for a resource that a delegate answers (`AVAssetResourceLoadingRequest`).
///
/// The delegate describes the content in ``contentInformationRequest``, responds with bytes through ``dataRequest``, at
/// once or in pieces, and calls ``finishLoading()`` at the end. Instead of bytes it can set ``redirect`` or an error.
/// All members can be used from any thread.
public final class AssetResourceLoadingRequest: Sendable {
    /// The request, with the URL that has the custom scheme, the kind of resource, and the byte range.
    public var request: TransportRequest { exchange.request }
    /// The URL with the original scheme, from which the resource would be loaded without the delegate; that of the
    /// request if the custom scheme has no original one.
    public let originalAddress: ResourceAddress
    /// A Boolean value that indicates whether the resource was loaded before and is no longer valid.
    public let isRenewal: Bool

    private let exchange: LoadingExchange
    private let time: any TimeSource
    private let forwarding = Mutex<Task<Void, Never>?>(nil)

    init(_ exchange: LoadingExchange, originalAddress: ResourceAddress, isRenewal: Bool, time: any TimeSource) {
        self.exchange = exchange
        self.originalAddress = originalAddress
        self.isRenewal = isRenewal
        self.time = time
    }

    deinit {
        exchange.update { $0.finish(.released) }
    }

    /// The description of the content, to be set before the first bytes.
    public var contentInformationRequest: AssetResourceContentInformation {
        get { exchange.current.information }
        set { exchange.update { $0.information = newValue } }
    }

    /// The requested bytes, and the way to respond with them.
    public var dataRequest: AssetResourceDataRequest { AssetResourceDataRequest(exchange) }

    /// The HTTP response; `nil`, the default, for a successful one.
    ///
    /// Set a status of 302 with ``redirect``.
    public var response: AssetResourceResponse? {
        get { exchange.current.response }
        set { exchange.update { $0.response = newValue } }
    }

    /// The request that is sent instead of this one; `nil`, the default, if the delegate responds itself.
    ///
    /// Its URL is the base of relative URLs in the resource. The byte range and the kind of this request are used
    /// whatever the new request says. Without a ``response``, the status is 302.
    public var redirect: TransportRequest? {
        get { exchange.current.redirect }
        set { exchange.update { $0.redirect = newValue } }
    }

    /// A Boolean value that indicates whether the loading has finished, successfully or not.
    public var isFinished: Bool {
        switch exchange.current.end {
        case .finished, .failed, .released: true
        case .cancelled, nil: false
        }
    }

    /// A Boolean value that indicates whether the request was canceled, so that further bytes are ignored.
    public var isCancelled: Bool {
        if case .cancelled = exchange.current.end { true } else { false }
    }

    /// Finishes the loading with the redirect, or with the response and the bytes so far.
    ///
    /// A second call has no effect.
    public func finishLoading() { exchange.update { $0.finish(.finished) } }

    /// Finishes the loading with an error.
    ///
    /// - Parameter error: The error; a ``TransportError`` is passed on as it is, and others as its cause.
    public func finishLoading(with error: any Error) { exchange.update { $0.finish(.failed(error)) } }

    /// Redirects the request to a URL, with status 302, and finishes the loading.
    ///
    /// - Parameter address: The URL from which the resource is loaded.
    public func redirect(to address: ResourceAddress) {
        exchange.update { state in
            state.redirect = TransportRequest(address, kind: request.kind)
            state.response = AssetResourceResponse(status: 302)
            state.finish(.finished)
        }
    }

    /// Answers the request with the response of a transport, and returns at once.
    ///
    /// The bytes are passed on as they arrive and are not read ahead of the reader by more than one mebibyte. The
    /// transfer is canceled together with the request. The delegate need not keep the request.
    ///
    /// - Parameters:
    ///   - transport: The transport.
    ///   - address: The URL that is requested; by default ``originalAddress``.
    public func finishLoading(from transport: any Transport, at address: ResourceAddress? = nil) {
        var request = request
        request.address = address ?? originalAddress
        let forward = LoadingForward(exchange: exchange, request: request, transport: transport, time: time)
        // The task retains the request, so that the delegate need not keep it.
        let task = Task(executorPreference: time.taskExecutor) { [self] in
            await forward.run()
            forwarding.withLock { $0 = nil }
        }
        forwarding.withLock { $0 = task }
        if isCancelled { task.cancel() }
    }

    /// Cancels the transfer that ``finishLoading(from:at:)`` started.
    func cancelForwarding() { forwarding.withLock { $0.take() }?.cancel() }
}

/// The bytes that a loading request asks for (`AVAssetResourceLoadingDataRequest`).
public struct AssetResourceDataRequest: Sendable {
    private let exchange: LoadingExchange

    init(_ exchange: LoadingExchange) { self.exchange = exchange }

    /// The position of the first requested byte in the resource.
    public var requestedOffset: Int64 { exchange.offset }
    /// The number of requested bytes; `nil` if all bytes to the end of the resource are requested.
    public var requestedLength: Int64? { exchange.length }
    /// A Boolean value that indicates whether all bytes to the end of the resource are requested.
    public var requestsAllDataToEndOfResource: Bool { exchange.length == nil }
    /// The position in the resource after the bytes of the responses so far.
    public var currentOffset: Int64 { exchange.offset +| exchange.current.receivedByteCount }

    /// Responds with the next bytes; can be called any number of times.
    ///
    /// The first bytes are those at ``requestedOffset``. Bytes after the requested ones are ignored.
    ///
    /// - Parameter bytes: The bytes.
    public func respond(with bytes: some Sequence<UInt8>) { respond(with: ByteBuffer(bytes: bytes)) }

    /// Responds with the next bytes of a buffer, which is not copied.
    ///
    /// - Parameter buffer: The bytes.
    public func respond(with buffer: ByteBuffer) { exchange.update { $0.append(buffer) } }
}

/// The transfer of the response of a transport to a loading request.
private struct LoadingForward: Sendable {
    let exchange: LoadingExchange
    let request: TransportRequest
    let transport: any Transport
    let time: any TimeSource

    private static let readAheadByteCount = 1 << 20

    func run() async {
        do {
            let response = try await transport.send(request)
            let length = response.expectedLength
            let whole = request.byteRange == nil && request.resumption == nil
            exchange.update { state in
                state.information.contentType = response.header("Content-Type")
                state.information.contentLength = whole ? length : nil
                // The transport has applied the byte range.
                state.information.isByteRangeAccessSupported = true
                state.response = AssetResourceResponse(
                    status: response.status,
                    headers: response.headers.filter { $0.name.lowercased() != "content-type" },
                    // The URL that a redirect led to is the base of relative URLs; otherwise they keep the custom scheme.
                    address: response.address == request.address ? nil : response.address
                )
            }
            for try await buffer in response.body {
                exchange.update { $0.append(buffer) }
                let canGoOn = try await exchange.wait(limit: nil, time) { state in
                    state.end != nil ? false : state.waitingByteCount < Self.readAheadByteCount ? true : nil
                }
                if !canGoOn { return }
            }
            exchange.update { $0.finish(.finished) }
        } catch {
            exchange.update { $0.finish(.failed(error)) }
        }
    }
}
