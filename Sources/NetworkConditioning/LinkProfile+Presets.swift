import MediaTiming

extension LinkProfile {
    /// The profiles of common networks; unless this comment says otherwise, they are named as in Apple's Network Link
    /// Conditioner.
    ///
    /// Apple does not publish the figures of its tool in one place; the figures here are those that its users report.
    /// If users report different figures, one of them is used. The presets are in alphabetical order, with ``off`` at the end.
    public static let presets: [LinkProfile] = [
        LinkProfile(
            name: "100% Loss",
            down: DirectionConditions(loss: 1),
            up: DirectionConditions(loss: 1)
        ),
        preset("3G", down: (780, 100), up: (330, 100)),
        preset("DSL", down: (2_000, 5), up: (256, 5)),
        preset("EDGE", down: (240, 400), up: (200, 440)),
        LinkProfile(name: "High Latency DNS", dnsDelay: .seconds(3)),
        preset("LTE", down: (50_000, 50), up: (10_000, 65)),
        preset("Very Bad Network", down: (1_000, 500), up: (1_000, 500), loss: 0.1),
        preset("WiFi", down: (40_000, 1), up: (33_000, 1)),
        preset("WiFi 802.11ac", down: (250_000, 1), up: (100_000, 1)),
        off,
    ]

    /// A link without limits, delays or losses.
    public static let off = LinkProfile(name: "Off")

    /// Creates the preset with a name; case, spaces, hyphens and underscores are ignored.
    ///
    /// - Parameter name: A name such as `Very Bad Network`, `very-bad-network` or `3g`.
    public init?(preset name: String) {
        func plain(_ name: String) -> String { name.lowercased().filter { !" -_".contains($0) } }
        guard let preset = Self.presets.first(where: { plain($0.name) == plain(name) }) else { return nil }
        self = preset
    }

    /// Creates a preset.
    ///
    /// - Parameters:
    ///   - name: The name, as it is shown.
    ///   - down: The bandwidth in kbit/s and the latency in milliseconds to the client. The latencies of both directions add up
    ///     to the round-trip time.
    ///   - up: The same from the client.
    ///   - loss: The share of lost packets in each direction, 0 to 1.
    /// - Returns: The preset.
    private static func preset(
        _ name: String,
        down: (kilobits: Int64, milliseconds: Int64),
        up: (kilobits: Int64, milliseconds: Int64),
        loss: Double = 0
    ) -> LinkProfile {
        func direction(_ figures: (kilobits: Int64, milliseconds: Int64)) -> DirectionConditions {
            DirectionConditions(
                bandwidth: BitRate(bitsPerSecond: figures.kilobits *| 1_000),
                latency: .milliseconds(figures.milliseconds),
                loss: loss
            )
        }
        return LinkProfile(name: name, down: direction(down), up: direction(up))
    }
}
