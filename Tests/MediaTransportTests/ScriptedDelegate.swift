import MediaTransport
import ResourceAddressing
import Synchronization

/// A delegate that answers as a closure says, and records what it was asked.
final class ScriptedDelegate: AssetResourceLoaderDelegate {
    private let respond: @Sendable (AssetResourceLoadingRequest) -> Bool
    /// The requests to load a resource.
    let requests = Mutex<[AssetResourceLoadingRequest]>([])
    /// The requests to renew one.
    let renewals = Mutex<[AssetResourceLoadingRequest]>([])
    /// The addresses of the canceled requests.
    let cancelled = Mutex<[String]>([])

    init(_ respond: @escaping @Sendable (AssetResourceLoadingRequest) -> Bool) { self.respond = respond }

    /// The addresses of the requests to load a resource.
    var asked: [String] { requests.withLock { $0.map(\.request.address.text) } }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        requests.withLock { $0.append(loadingRequest) }
        return respond(loadingRequest)
    }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AssetResourceLoadingRequest
    ) -> Bool {
        renewals.withLock { $0.append(renewalRequest) }
        return respond(renewalRequest)
    }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        didCancel loadingRequest: AssetResourceLoadingRequest
    ) {
        cancelled.withLock { $0.append(loadingRequest.request.address.text) }
    }
}
