public import Foundation
import ResourceAddressing

extension Asset {
    /// Makes an asset of a URL.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - options: How it is reached.
    ///   - environment: The world that it lives in.
    public convenience init(
        url: URL,
        options: AssetOptions = AssetOptions(),
        environment: Player.Environment = .standard
    ) {
        self.init(ResourceAddress(url.absoluteString), options: options, environment: environment)
    }
}
