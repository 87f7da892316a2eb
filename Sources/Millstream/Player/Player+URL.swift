public import Foundation
import ResourceAddressing

extension Player {
    /// Creates a player for a Foundation URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the media.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(url: URL, environment: Environment = .standard) {
        self.init(ResourceAddress(url.absoluteString), environment: environment)
    }
}
