import MediaTiming

extension LinkProfile {
    /// The conditions that have a name.
    ///
    /// The names are those of Apple's Network Link Conditioner. Its figures are not published in one place; those of 3G, DSL,
    /// EDGE, LTE, Very Bad Network, WiFi and High Latency DNS are the ones that its users report, and those of WiFi 802.11ac
    /// are so too. Where reports differ, the figures here are ours.
    public static let presets: [LinkProfile] = [
        LinkProfile(
            name: "100% Loss",
            down: Direction(loss: 1),
            up: Direction(loss: 1)
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

    /// The link as it is.
    public static let off = LinkProfile(name: "Off")

    /// The conditions with a name; case, blanks, hyphens and underscores do not matter.
    ///
    /// - Parameter name: Such as `Very Bad Network`, `very-bad-network` or `3g`.
    public init?(preset name: String) {
        func plain(_ name: String) -> String { name.lowercased().filter { !" -_".contains($0) } }
        guard let preset = Self.presets.first(where: { plain($0.name) == plain(name) }) else { return nil }
        self = preset
    }

    private static func preset(
        _ name: String,
        down: (kilobits: Int64, milliseconds: Int64),
        up: (kilobits: Int64, milliseconds: Int64),
        loss: Double = 0
    ) -> LinkProfile {
        func direction(_ figures: (kilobits: Int64, milliseconds: Int64)) -> Direction {
            Direction(
                bandwidth: BitRate(bitsPerSecond: figures.kilobits *| 1_000),
                latency: .milliseconds(figures.milliseconds),
                loss: loss
            )
        }
        return LinkProfile(name: name, down: direction(down), up: direction(up))
    }
}
