/// The state between two breaks, while the primary item plays.
struct InterstitialWatch: Sendable {
    /// The break that begins as soon as the item is played.
    var due: InterstitialSchedule.Break?
    /// The next interstitial, whose items are in the queue.
    var prepared: PreparedInterstitial?
}

/// An interstitial whose items are in the queue before its break begins.
struct PreparedInterstitial: Sendable {
    /// The interstitial.
    let event: InterstitialEvent
    /// The items, without those that must not be loaded.
    var items: [InterstitialItem]
    /// The reason why the interstitial's only address must not be loaded.
    var rejection: PlayerError?
}
