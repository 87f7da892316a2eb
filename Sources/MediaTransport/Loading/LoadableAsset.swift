public import ResourceAddressing

/// An asset at a URL, with the loader for all its resources, including header fields, cookies, and connections.
///
/// Players and downloads use this protocol, so that the same asset can be played and downloaded at the same time.
public protocol LoadableAsset: Sendable {
    /// The URL of the asset.
    var address: ResourceAddress { get }
    /// The loader for all resources of the asset, shared by all users of the asset.
    var loader: ResourceLoader { get }
}
