// A substitute for the part of AVFoundation that MillstreamAVFoundation uses, with the same declarations. It is built only
// where MILLSTREAM_AVFOUNDATION_STUB is 1, on platforms without AVFoundation.

public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// See `AVAssetResourceLoadingContentInformationRequest` in Apple's documentation.
open class AVAssetResourceLoadingContentInformationRequest: NSObject {
    /// A uniform type identifier.
    open var contentType: String?
    /// The length of the resource.
    open var contentLength: Int64 = 0
    /// A Boolean value that indicates whether byte ranges can be requested.
    open var isByteRangeAccessSupported = false
    /// The date after which the resource is renewed.
    open var renewalDate: Date?
}

/// See `AVAssetResourceLoadingDataRequest` in Apple's documentation.
open class AVAssetResourceLoadingDataRequest: NSObject {
    /// The position of the first requested byte.
    public let requestedOffset: Int64
    /// The number of requested bytes.
    public let requestedLength: Int
    /// A Boolean value that indicates whether all bytes to the end are requested.
    public let requestsAllDataToEndOfResource: Bool
    /// The position after the bytes of the responses so far.
    public private(set) var currentOffset: Int64
    /// The bytes of the responses so far; not in AVFoundation.
    public private(set) var receivedData = Data()

    /// Creates a request; not in AVFoundation.
    public init(offset: Int64, length: Int, toEnd: Bool) {
        requestedOffset = offset
        requestedLength = length
        requestsAllDataToEndOfResource = toEnd
        currentOffset = offset
    }

    /// Responds with bytes.
    open func respond(with data: Data) {
        receivedData.append(data)
        currentOffset += Int64(data.count)
    }
}

/// See `AVAssetResourceLoadingRequest` in Apple's documentation.
open class AVAssetResourceLoadingRequest: NSObject {
    /// The request.
    public let request: URLRequest
    /// The description of the content that is requested.
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    /// The bytes that are requested.
    public let dataRequest: AVAssetResourceLoadingDataRequest?
    /// The response.
    open var response: URLResponse?
    /// The request that is sent instead.
    open var redirect: URLRequest?
    /// A Boolean value that indicates whether the loading has finished.
    public private(set) var isFinished = false
    /// The error with which it has finished; not in AVFoundation.
    public private(set) var error: (any Error)?
    private let onFinish: @Sendable () -> Void

    /// Creates a request; not in AVFoundation.
    public required init(
        _ request: URLRequest,
        information: AVAssetResourceLoadingContentInformationRequest?,
        data: AVAssetResourceLoadingDataRequest?,
        onFinish: @escaping @Sendable () -> Void
    ) {
        self.request = request
        contentInformationRequest = information
        dataRequest = data
        self.onFinish = onFinish
    }

    /// Finishes the loading.
    open func finishLoading() {
        isFinished = true
        onFinish()
    }

    /// Finishes the loading with an error.
    open func finishLoading(with error: (any Error)?) {
        self.error = error
        finishLoading()
    }
}

/// See `AVAssetResourceRenewalRequest` in Apple's documentation.
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest {}

/// See `AVAssetResourceLoaderDelegate` in Apple's documentation.
public protocol AVAssetResourceLoaderDelegate: NSObjectProtocol {
    /// Asks whether the delegate loads a resource.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool

    /// Asks whether the delegate loads a resource again.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool

    /// Tells the delegate that a request was canceled.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        didCancel loadingRequest: AVAssetResourceLoadingRequest
    )
}

/// See `AVAssetResourceLoader` in Apple's documentation.
open class AVAssetResourceLoader: NSObject {
    /// The delegate.
    public private(set) weak var delegate: (any AVAssetResourceLoaderDelegate)?
    /// The queue on which the delegate is called.
    public private(set) var delegateQueue: DispatchQueue?

    /// Sets the delegate.
    open func setDelegate(_ delegate: (any AVAssetResourceLoaderDelegate)?, queue: DispatchQueue?) {
        self.delegate = delegate
        delegateQueue = queue
    }
}

/// See `AVURLAsset` in Apple's documentation.
open class AVURLAsset: NSObject {
    /// The URL.
    public let url: URL
    /// The resource loader.
    public let resourceLoader = AVAssetResourceLoader()

    /// Creates an asset.
    public init(url: URL) { self.url = url }
}
