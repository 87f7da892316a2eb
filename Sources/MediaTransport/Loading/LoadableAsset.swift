public import ResourceAddressing

/// Media at an address, with the one way in which all of it is loaded: its header fields, its cookies, its connections.
///
/// Whatever plays an asset and whatever keeps it ask for this alone, so that one asset can be given to both at once.
public protocol LoadableAsset: Sendable {
    /// Where it is.
    var address: ResourceAddress { get }
    /// How everything of it is loaded; the same for all who use the asset.
    var loading: ResourceLoading { get }
}
