public import Foundation

extension PlayerItem {
    /// Makes an item of a URL.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - environment: The world that it lives in.
    public convenience init(url: URL, environment: Player.Environment = .standard) {
        self.init(asset: Asset(url: url, environment: environment))
    }
}
