import XMLReading

extension ManifestInspection {
    /// Checks the rules that concern an element wherever it is, and the elements within it.
    mutating func inspectElements(_ element: ManifestElement) {
        if let kind = element.kind {
            inspectValues(of: element, kind)
            inspectDescriptor(element, kind)
        }
        inspectFramePacking(in: element)
        for child in element.children { inspectElements(child) }
    }

    /// Checks the values of attributes that several elements have.
    private mutating func inspectValues(of element: ManifestElement, _ kind: ElementKind) {
        for attribute in element.attributes {
            switch AttributeName(rawValue: attribute.name.local) {
            case .lang where attribute.name.namespace.isEmpty:
                if !ValueForm.isLanguage(attribute.value) { report(.invalidLanguage, element, value: attribute.value) }
            case .mimeType:
                if !ValueForm.isMimeType(attribute.value) { report(.invalidMimeType, element, value: attribute.value) }
            case .contentType:
                if !Self.contentTypes.contains(ManifestNumber.trimmed(attribute.value).lowercased()) {
                    report(.invalidContentType, element, value: attribute.value)
                }
            case .startWithSAP, .subsegmentStartsWithSAP:
                if let type = ManifestNumber.integer(attribute.value), type > 6 {
                    report(.invalidAccessPointType, element, value: attribute.value)
                }
            case .scanType:
                if !["progressive", "interlaced", "unknown"].contains(ManifestNumber.trimmed(attribute.value)) {
                    report(.invalidScanType, element, value: attribute.value)
                }
            default: break
            }
        }
        if let actuate = element[.linkActuate] {
            if !["onLoad", "onRequest"].contains(ManifestNumber.trimmed(actuate)) {
                report(.invalidActuate, element, value: actuate)
            }
            if element[.linkReference] == nil { report(.actuateWithoutLink, element) }
        }
        if kind == .baseURL { inspectCompleteness(element) }
    }

    /// The roles of `urn:mpeg:dash:role:2011` (§5.8.5.5).
    private static let roles: Set<String> = [
        "main", "alternate", "supplementary", "commentary", "dub", "caption", "subtitle", "description", "sign",
        "metadata", "enhanced-audio-intelligibility", "emergency", "karaoke", "forced-subtitle", "forced_subtitle",
        "easyreader",
    ]
    private static let framePackingOfAVC = "urn:mpeg:dash:14496:10:frame_packing_arrangement_type:2011"
    private static let framePackings: Set<String> = [
        framePackingOfAVC, "urn:mpeg:dash:13818:1:stereo_video_format_type:2011",
        "urn:mpeg:mpegB:cicp:VideoFramePackingType",
    ]
    /// The schemes of audio channels whose values are a number.
    private static let channelNumbers: Set<String> = [
        "urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "urn:mpeg:mpegB:cicp:ChannelConfiguration",
    ]

    /// Checks the values that the schemes of the standard define for descriptors (§5.8).
    private mutating func inspectDescriptor(_ element: ManifestElement, _ kind: ElementKind) {
        let scheme = element[.schemeIdUri].map(ManifestNumber.trimmed) ?? ""
        let value = element[.value].map(ManifestNumber.trimmed) ?? ""
        switch kind {
        case .role:
            if scheme == "urn:mpeg:dash:role:2011", !Self.roles.contains(value) {
                report(.unknownRole, element, value: value)
            }
        case .contentProtection:
            if scheme.lowercased() == "urn:mpeg:dash:mp4protection:2011", value.utf8.count != 4 {
                report(.missingSchemeType, element, value: value)
            }
            for id in element.items(.contentProtectionDefaultKeyID, separator: " ") where !ValueForm.isUUID(id) {
                report(.invalidKeyID, element, value: id)
            }
        case .framePacking:
            if !Self.framePackings.contains(scheme) { report(.unknownFramePacking, element, value: scheme) }
        case .audioChannelConfiguration:
            if Self.channelNumbers.contains(scheme), (ManifestNumber.integer(value) ?? -1) < 0 {
                report(.invalidChannelConfiguration, element, value: value)
            }
            if scheme == "urn:mpeg:dash:outputChannelPositionList:2012" {
                let items = ManifestNumber.items(value, separator: " ")
                if items.isEmpty || items.contains(where: { (ManifestNumber.integer($0) ?? -1) < 0 }) {
                    report(.invalidChannelConfiguration, element, value: value)
                }
            }
        default: break
        }
    }

    /// Checks that frame packing of ISO/IEC 14496-10 is not declared for codecs that are all of another kind.
    private mutating func inspectFramePacking(in parent: ManifestElement) {
        let packing = parent.elements(.framePacking).first { packing in
            packing[.schemeIdUri].map(ManifestNumber.trimmed) == Self.framePackingOfAVC
        }
        guard let packing else { return }
        let codecs = parent.items(.codecs) + parent.elements(.representation).flatMap { $0.items(.codecs) }
        guard !codecs.isEmpty else { return }
        let isAVC = codecs.contains { codec in ["avc", "svc", "mvc"].contains { codec.hasPrefix($0) } }
        if !isAVC { report(.framePackingOfOtherCodec, packing) }
    }

    /// Checks the references of content protection descriptors to others.
    mutating func inspectProtectionReferences() {
        var known: Set<String> = []
        var references: [(ManifestElement, String)] = []
        func collect(_ element: ManifestElement) {
            for protection in element.elements(.contentProtection) {
                if let id = protection[.refId] { known.insert(id) }
                if let reference = protection[.ref] { references.append((protection, reference)) }
            }
            for child in element.children { collect(child) }
        }
        collect(presentation.element)
        for (element, reference) in references where !known.contains(reference) {
            report(.unknownProtectionReference, element, value: reference)
        }
    }
}

/// The forms of the values of attributes.
private enum ValueForm {
    /// Returns a Boolean value that indicates whether a text has the form of a language tag (RFC 5646 §2.1).
    static func isLanguage(_ text: String) -> Bool {
        let parts = ManifestNumber.trimmed(text).split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, first.utf8.allSatisfy(isLetter) else { return false }
        guard (2...8).contains(first.utf8.count) || parts.count > 1 && ["x", "i"].contains(first.lowercased()) else {
            return false
        }
        return parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || isDigit($0) }
        }
    }

    static func isMimeType(_ text: String) -> Bool {
        let parts = ManifestNumber.trimmed(text).split(separator: ";", maxSplits: 1).first?
            .split(separator: "/", omittingEmptySubsequences: false)
        guard let parts, parts.count == 2 else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { isLetter($0) || isDigit($0) || "!#$&-^_.+".utf8.contains($0) }
        }
    }

    static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy { isDigit($0) || (0x61...0x66).contains($0 | 0x20) } }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
