public import Foundation
import ResourceAddressing

extension Asset {
    /// Creates an asset for a Foundation URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the media.
    ///   - options: The options for loading the asset.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(
        url: URL,
        options: AssetOptions = AssetOptions(),
        environment: Player.Environment = .standard
    ) {
        self.init(ResourceAddress(url.absoluteString), options: options, environment: environment)
    }
}
