public import Foundation
import ResourceAddressing

extension Player {
    /// Makes a player of a URL.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - environment: The world that it lives in.
    public convenience init(url: URL, environment: Environment = .standard) {
        self.init(ResourceAddress(url.absoluteString), environment: environment)
    }
}
