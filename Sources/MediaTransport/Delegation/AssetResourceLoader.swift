public import Dispatch
import MediaTiming
public import ResourceAddressing
import Synchronization

/// The resource loader of an asset, which passes requests for URLs with a custom scheme to a delegate
/// (`AVAssetResourceLoader`).
///
/// A custom scheme is any other than `http`, `https`, `file` and `data`. The delegate is referenced weakly: a request
/// that comes after it was released fails or, if the scheme has an original one, is sent without it.
public final class AssetResourceLoader: Sendable {
    /// A decision about a request, for logs.
    public enum Decision: Sendable, Hashable {
        /// The delegate loads the resource.
        case accepted
        /// The delegate returned `false`; the resource is loaded from this URL, or fails without one.
        case declined(ResourceAddress?)
        /// There is no delegate; the resource is loaded from this URL, or fails without one.
        case noDelegate(ResourceAddress?)
        /// The delegate redirected the request to this URL.
        case redirected(ResourceAddress)
        /// The delegate is asked to renew a resource.
        case renewing
        /// The request failed with this error code.
        case failed(TransportError.Code)
        /// The request was canceled.
        case cancelled
    }

    private struct State {
        weak var delegate: (any AssetResourceLoaderDelegate)?
        var queue: DispatchQueue?
        /// Performs a call of the delegate on its queue.
        var perform: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
        var observer: (@Sendable (Decision, TransportRequest) -> Void)?
        var responseLimit: Duration? = .seconds(60)
    }

    private let state = Mutex(State())
    /// The custom schemes in lowercase, each with the scheme that replaces it.
    private let originalSchemes: [String: String]

    /// Creates a resource loader without a delegate.
    ///
    /// - Parameter originalSchemes: The custom schemes, each with the scheme that replaces it in requests that the
    ///   delegate does not answer.
    public init(originalSchemes: [String: String] = [:]) {
        self.originalSchemes = [String: String](
            originalSchemes.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The delegate; `nil` if there is none or if it was released.
    public var delegate: (any AssetResourceLoaderDelegate)? { state.withLock { $0.delegate } }
    /// The queue on which the delegate is called; `nil` without a delegate.
    public var delegateQueue: DispatchQueue? { state.withLock { $0.queue } }

    /// The time that may pass without a response or further bytes of the delegate before a request fails with
    /// ``TransportError/Code/timedOut``; 60 seconds by default, `nil` for no limit.
    public var responseTimeLimit: Duration? {
        get { state.withLock { $0.responseLimit } }
        set { state.withLock { $0.responseLimit = newValue } }
    }

    /// A closure that is called with each decision about a request, on any thread; `nil`, the default, for none.
    ///
    /// It shows why a delegate is not called: for example because a playlist contains absolute URLs.
    public var decisionHandler: (@Sendable (_ decision: Decision, _ request: TransportRequest) -> Void)? {
        get { state.withLock { $0.observer } }
        set { state.withLock { $0.observer = newValue } }
    }

    /// Sets the delegate, which is not retained.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; `nil` for none.
    ///   - queue: The queue on which the delegate is called. On a serial queue it is called for one request at a time.
    public func setDelegate(_ delegate: (any AssetResourceLoaderDelegate)?, queue: DispatchQueue) {
        set(delegate, queue) { call in queue.async(execute: call) }
    }

    /// Sets a delegate that is called on the thread of each request, for simulated time.
    package func setDelegate(callingDirectly delegate: any AssetResourceLoaderDelegate) {
        set(delegate, nil) { $0() }
    }

    private func set(
        _ delegate: (any AssetResourceLoaderDelegate)?,
        _ queue: DispatchQueue?,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        state.withLock { state in
            state.delegate = delegate
            state.queue = delegate == nil ? nil : queue
            state.perform = perform
        }
    }

    /// Returns the URL with the original scheme; `nil` if its scheme is none of the custom schemes.
    ///
    /// - Parameter address: A URL.
    /// - Returns: The URL, which differs only in the scheme.
    public func originalAddress(of address: ResourceAddress) -> ResourceAddress? {
        guard let scheme = address.scheme, let original = originalSchemes[scheme.lowercased()] else { return nil }
        return ResourceAddress(original + address.text.dropFirst(scheme.count))
    }

    /// Returns the URL with the custom scheme of another URL, if it has the original scheme of that one.
    func customAddress(of address: ResourceAddress, like request: ResourceAddress) -> ResourceAddress {
        guard let custom = request.scheme, let scheme = address.scheme,
            originalSchemes[custom.lowercased()]?.lowercased() == scheme.lowercased()
        else { return address }
        return ResourceAddress(custom + address.text.dropFirst(scheme.count))
    }

    /// Passes a decision to ``decisionHandler``.
    func report(_ decision: Decision, _ request: TransportRequest) {
        decisionHandler?(decision, request)
    }

    /// Asks the delegate on its queue; the exchange receives its decision.
    ///
    /// - Returns: A closure that tells the delegate of the cancellation.
    func ask(
        _ exchange: LoadingExchange,
        isRenewal: Bool,
        _ time: any TimeSource
    ) -> @Sendable () -> Void {
        let perform = state.withLock { $0.perform }
        let handle = WeakRequest()
        perform { [self] in
            guard let delegate else {
                exchange.update { $0.decision = .missing }
                return
            }
            // A request that was canceled while the queue was busy is not worth asking for.
            guard exchange.current.end == nil else { return }
            let request = AssetResourceLoadingRequest(
                exchange,
                originalAddress: originalAddress(of: exchange.request.address) ?? exchange.request.address,
                isRenewal: isRenewal,
                time: time
            )
            handle.set(request)
            let isAccepted =
                isRenewal
                ? delegate.resourceLoader(self, shouldWaitForRenewalOfRequestedResource: request)
                : delegate.resourceLoader(self, shouldWaitForLoadingOfRequestedResource: request)
            exchange.update { $0.decision = isAccepted ? .accepted : .declined }
        }
        return { [self] in
            handle.request?.cancelForwarding()
            perform { [self] in
                guard let delegate, let request = handle.request else { return }
                delegate.resourceLoader(self, didCancel: request)
            }
        }
    }
}

/// A weak reference to the request that a delegate keeps.
private final class WeakRequest: Sendable {
    private struct Reference {
        weak var request: AssetResourceLoadingRequest?
    }

    private let reference = Mutex(Reference())

    var request: AssetResourceLoadingRequest? { reference.withLock { $0.request } }

    func set(_ request: AssetResourceLoadingRequest) { reference.withLock { $0.request = request } }
}

extension ResourceAddress {
    /// A Boolean value that indicates whether the scheme is a custom one, whose requests are for a delegate.
    package var hasCustomScheme: Bool {
        !isRefusedFile && (normalizedScheme.map { !["http", "https", "file", "data"].contains($0) } ?? false)
    }
}
