#if canImport(AVFoundation)
public import AVFoundation
import Dispatch
public import Foundation
import MediaTiming
public import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate of AVFoundation's resource loader that passes its requests to a delegate of Millstream.
///
/// Playlists and keys that the delegate loads are answered. All other resources are redirected to their original URLs with
/// status 302, because `AVPlayer` does not play media segments that a resource loader delivers. A resource is recognized as a
/// playlist by its content.
///
/// ```swift
/// let adapter = ResourceLoaderAdapter(delegate, originalSchemes: ["films": "https"])
/// let asset = AVURLAsset(url: URL(string: "films://example.com/multivariant.m3u8")!)
/// asset.resourceLoader.setDelegate(adapter, queue: adapter.queue)
/// ```
///
/// `AVAssetResourceLoader` does not retain its delegate, so keep the adapter as long as the asset.
public final class ResourceLoaderAdapter: NSObject, AVAssetResourceLoaderDelegate, Sendable {
    /// The resource loader whose delegate is asked.
    public let resourceLoader: AssetResourceLoader
    /// The queue for `AVAssetResourceLoader.setDelegate(_:queue:)`.
    public let queue = DispatchQueue(label: "millstream.resource-loader-adapter")

    private let delegate: any AssetResourceLoaderDelegate
    private let transport: DelegatedTransport
    private let kinds = ResourceKinds()
    private let tasks = Mutex<[ObjectIdentifier: Task<Void, Never>]>([:])

    /// The maximum size of a playlist in bytes.
    private static let maximumPlaylistSize = 64 << 20
    /// The maximum size in bytes of a resource of unknown kind that is taken for a key; those of AES have 16 or 32.
    private static let maximumKeySize = 64

    /// Creates an adapter, which retains the delegate.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, for example a `PlaylistEditingDelegate`.
    ///   - originalSchemes: The custom schemes, each with the scheme that replaces it in redirects.
    public init(_ delegate: any AssetResourceLoaderDelegate, originalSchemes: [String: String]) {
        self.delegate = delegate
        resourceLoader = AssetResourceLoader(originalSchemes: originalSchemes)
        transport = DelegatedTransport(RedirectRecorder(), loader: resourceLoader, time: SystemTimeSource())
        super.init()
        resourceLoader.setDelegate(delegate, queue: DispatchQueue(label: "millstream.resource-loader-delegate"))
    }

    /// Starts to load a resource, and returns `true`.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        start(loadingRequest)
    }

    /// Starts to load a resource again, and returns `true`.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool {
        start(renewalRequest)
    }

    /// Cancels the loading of a resource.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) {
        tasks.withLock { $0.removeValue(forKey: ObjectIdentifier(loadingRequest)) }?.cancel()
    }

    private func start(_ loadingRequest: AVAssetResourceLoadingRequest) -> Bool {
        guard let url = loadingRequest.request.url else { return false }
        let address = ResourceAddress(url.absoluteString)
        let response = LoadingResponse(loadingRequest)
        let id = ObjectIdentifier(loadingRequest)
        // The task ends only after it is stored.
        tasks.withLock { tasks in
            tasks[id] = Task {
                let result: Result<LoadingResponse.Content, any Error>
                do { result = .success(try await content(of: address)) } catch { result = .failure(error) }
                // AVFoundation has canceled a request that is not stored anymore.
                guard self.tasks.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
                switch result {
                case .success(let content): response.finish(with: content)
                case .failure(let error): response.fail(error)
                }
            }
        }
        return true
    }

    /// Returns the response to the request of a resource.
    private func content(of address: ResourceAddress) async throws -> LoadingResponse.Content {
        let kind = kinds.kind(of: address)
        do {
            let response = try await transport.send(TransportRequest(address, kind: kind ?? .playlist))
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes += buffer.readableBytesView
                let isPlaylist = ResourceKinds.isPlaylist(bytes)
                // More than a key, and no playlist: media is for the origin.
                if isPlaylist == false, kind != .key, bytes.count > Self.maximumKeySize { break }
                guard bytes.count <= Self.maximumPlaylistSize else {
                    throw TransportError(.tooLarge, "the resource is larger than 64 MiB", address: address)
                }
            }
            if ResourceKinds.isPlaylist(bytes) == true {
                kinds.addReferences(of: bytes, at: response.address)
            } else if kind != .key, kind != nil || bytes.count > Self.maximumKeySize {
                return .redirect(try original(of: address, response))
            }
            return .bytes(
                bytes,
                isPlaylist: ResourceKinds.isPlaylist(bytes) == true,
                renewalDelay: transport.renewalDelay(of: address)
            )
        } catch let redirect as RedirectRecorder.Redirect {
            return .redirect(redirect.address)
        }
    }

    /// Returns the URL from which a resource that cannot be answered is loaded.
    private func original(of address: ResourceAddress, _ response: TransportResponse) throws -> ResourceAddress {
        if response.address.isHTTP { return response.address }
        if let original = resourceLoader.originalAddress(of: address) { return original }
        throw TransportError(
            .wrongContent,
            "AVPlayer plays no media that a resource loader delivers; redirect the request",
            address: address
        )
    }
}

/// A transport that loads nothing: each request ends with the URL to which it is redirected.
private struct RedirectRecorder: Transport {
    struct Redirect: Error {
        let address: ResourceAddress
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        throw Redirect(address: request.address)
    }
}

/// A request of AVFoundation, which is answered on any thread, once.
private struct LoadingResponse: @unchecked Sendable {
    /// The content of a response.
    enum Content {
        case bytes([UInt8], isPlaylist: Bool, renewalDelay: Duration?)
        case redirect(ResourceAddress)
    }

    // AVFoundation permits responses from any thread.
    private let request: AVAssetResourceLoadingRequest

    init(_ request: AVAssetResourceLoadingRequest) { self.request = request }

    func finish(with content: Content) {
        switch content {
        case .redirect(let address): redirect(to: address)
        case .bytes(let bytes, let isPlaylist, let renewalDelay):
            if let information = request.contentInformationRequest {
                // A uniform type identifier.
                information.contentType = isPlaylist ? "public.m3u-playlist" : "public.data"
                information.contentLength = Int64(bytes.count)
                information.isByteRangeAccessSupported = true
                if let renewalDelay {
                    information.renewalDate = Date(timeIntervalSinceNow: renewalDelay / .seconds(1))
                }
            }
            if let wanted = request.dataRequest {
                let start = min(Int(clamping: max(0, wanted.currentOffset)), bytes.count)
                let length =
                    wanted.requestsAllDataToEndOfResource
                    ? bytes.count : max(0, Int(clamping: wanted.requestedOffset) +| wanted.requestedLength -| start)
                wanted.respond(with: Data(bytes[start..<min(start +| length, bytes.count)]))
            }
            request.finishLoading()
        }
    }

    private func redirect(to address: ResourceAddress) {
        guard address.isHTTP, let url = URL(string: address.text), let own = request.request.url,
            let response = HTTPURLResponse(url: own, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
        else {
            let error = TransportError(.badRedirect, "this URL is not an http URL", address: address)
            return fail(error)
        }
        request.redirect = URLRequest(url: url)
        request.response = response
        request.finishLoading()
    }

    func fail(_ error: any Error) {
        let text = (error as? TransportError)?.message ?? "\(error)"
        let code = (error as? TransportError)?.code.number ?? -11_800
        // Errors of AVFoundation have this domain and these codes.
        request.finishLoading(
            with: NSError(domain: "AVFoundationErrorDomain", code: code, userInfo: [NSLocalizedDescriptionKey: text])
        )
    }
}
#endif
