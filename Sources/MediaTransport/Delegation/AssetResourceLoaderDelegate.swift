/// An object that loads resources of an asset in place of the network (`AVAssetResourceLoaderDelegate`).
///
/// It receives a request for each resource whose URL has a custom scheme: playlists, media segments, initialization
/// sections, keys and subtitles. Relative URLs in a playlist inherit the scheme of the playlist.
///
/// The methods are called on the queue that was given to ``AssetResourceLoader/setDelegate(_:queue:)``. A delegate can
/// respond to a request later and on any thread. A slow delegate delays only the requests of its own asset.
public protocol AssetResourceLoaderDelegate: AnyObject, Sendable {
    /// Asks whether the delegate loads a resource.
    ///
    /// - Parameters:
    ///   - resourceLoader: The resource loader of the asset.
    ///   - loadingRequest: The request. A delegate that loads the resource retains the request until it calls
    ///     ``AssetResourceLoadingRequest/finishLoading()``; if the request is released earlier, it fails.
    /// - Returns: `true` if the delegate loads the resource, now or later; `false` to load the resource from the URL with
    ///   the original scheme, or to fail if the custom scheme has none.
    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool

    /// Asks whether the delegate loads a resource again that it loaded before and that is no longer valid.
    ///
    /// A resource is no longer valid after the time in ``AssetResourceContentInformation/renewalDelay``, or if the
    /// server to which the delegate redirected the request responded with status 401, 403 or 410. By default, the
    /// request is handled like the first one.
    ///
    /// - Parameters:
    ///   - resourceLoader: The resource loader of the asset.
    ///   - renewalRequest: The request, whose ``AssetResourceLoadingRequest/isRenewal`` is `true`.
    /// - Returns: `true` if the delegate loads the resource, now or later.
    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AssetResourceLoadingRequest
    ) -> Bool

    /// Tells the delegate that a request was canceled or took too long; a later response is ignored.
    ///
    /// - Parameters:
    ///   - resourceLoader: The resource loader of the asset.
    ///   - loadingRequest: The request.
    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        didCancel loadingRequest: AssetResourceLoadingRequest
    )
}

extension AssetResourceLoaderDelegate {
    /// Handles the renewal like the first request.
    public func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AssetResourceLoadingRequest
    ) -> Bool {
        self.resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: renewalRequest)
    }

    /// Ignores the cancellation.
    public func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        didCancel loadingRequest: AssetResourceLoadingRequest
    ) {}
}
