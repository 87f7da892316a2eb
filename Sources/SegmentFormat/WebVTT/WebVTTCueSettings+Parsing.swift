/// Returns the names and values of a list such as `line:0 align:end`.
private func pairs(_ text: String) -> [(name: Substring, value: Substring)] {
    text.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\u{C}" }.prefix(100).compactMap { setting in
        guard let colon = setting.firstIndex(of: ":"), colon > setting.startIndex else { return nil }
        let value = setting[setting.index(after: colon)...]
        return value.isEmpty ? nil : (setting[..<colon], value)
    }
}

extension WebVTTCueSettings {
    /// Creates settings from the text after the timings of a cue; invalid settings are ignored (W3C WebVTT §6.3).
    init(_ text: String) {
        self.init()
        for (name, value) in pairs(text) {
            switch name {
            case "region": regionID = String(value)
            case "vertical": direction = value.isEmpty ? direction : Direction(rawValue: String(value)) ?? direction
            case "line": readLine(value)
            case "position": readPosition(value)
            case "size": size = WebVTTScanner.percentage(value) ?? size
            case "align": alignment = Alignment(rawValue: String(value)) ?? alignment
            default: break
            }
        }
        // A cue with a line position, size or direction of its own is not part of a region.
        if line != .automatic || size != 100 || direction != .horizontal { regionID = nil }
    }

    private mutating func readLine(_ value: Substring) {
        let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var alignment = lineAlignment
        if parts.count == 2 {
            guard let named = LineAlignment(rawValue: String(parts[1])) else { return }
            alignment = named
        }
        if parts[0].hasSuffix("%") {
            guard let percentage = WebVTTScanner.percentage(parts[0]) else { return }
            line = .percentage(percentage)
        } else {
            guard let number = WebVTTScanner.number(parts[0]) else { return }
            line = .number(number)
        }
        lineAlignment = alignment
    }

    private mutating func readPosition(_ value: Substring) {
        let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var alignment = positionAlignment
        if parts.count == 2 {
            guard !parts[1].isEmpty, let named = PositionAlignment(rawValue: String(parts[1])) else { return }
            alignment = named
        }
        guard let percentage = WebVTTScanner.percentage(parts[0]) else { return }
        position = percentage
        positionAlignment = alignment
    }
}

extension WebVTTRegion {
    /// Creates a region from its settings; invalid settings are ignored (W3C WebVTT §6.2).
    init(settings text: String) {
        self.init()
        for (name, value) in pairs(text) {
            switch name {
            case "id": id = String(value)
            case "width": width = WebVTTScanner.percentage(value) ?? width
            case "lines":
                if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(value) { lines = count }
            case "regionanchor": anchor = Anchor(value) ?? anchor
            case "viewportanchor": viewportAnchor = Anchor(value) ?? viewportAnchor
            case "scroll": scrollsUp = scrollsUp || value == "up"
            default: break
            }
        }
    }
}

extension WebVTTRegion.Anchor {
    init?(_ value: Substring) {
        let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let x = WebVTTScanner.percentage(parts[0]), let y = WebVTTScanner.percentage(parts[1])
        else { return nil }
        self.init(x: x, y: y)
    }
}
