public import Foundation

extension PlayerItem {
    /// Creates an item for a Foundation URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the media.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(url: URL, environment: Player.Environment = .standard) {
        self.init(asset: Asset(url: url, environment: environment))
    }
}
