import HLSPlaylist
import ResourceAddressing

/// The pathways that steering manifests add to a presentation.
///
/// The presentation itself is not changed, so that variants and options remain equal for applications.
struct PathwayClones: Sendable {
    /// The maximum number of clones of a session; later ones are ignored.
    private static let maximumCount = 64

    private struct Group: Hashable {
        let type: Rendition.MediaType
        let id: String
    }

    private var clones: [PathwayClone] = []
    /// The locations on clones, which follow those of the presentation.
    private var locations: [Presentation.Variant.ID: [Presentation.Variant.Location]] = [:]
    /// The options with the encodings of clones.
    private var options: [MediaSelectionOption.ID: MediaSelectionOption] = [:]

    /// The identifiers of the clones, in the order in which they were added.
    var pathways: [String] { clones.map(\.id) }

    /// Adds clones of pathways that exist, unless their identifiers exist.
    mutating func add(_ new: [PathwayClone], to presentation: Presentation, _ renewal: AddressRenewal) {
        guard !new.isEmpty else { return }
        var known = Set(presentation.pathways + pathways)
        let former = clones.count
        for clone in new where known.contains(clone.baseID) && clones.count < Self.maximumCount {
            if known.insert(clone.id).inserted { clones.append(clone) }
        }
        if clones.count > former { update(presentation, renewal) }
    }

    /// Derives the locations again, after the addresses of the presentation were renewed.
    mutating func update(_ presentation: Presentation, _ renewal: AddressRenewal) {
        guard !clones.isEmpty else { return }
        locations = [:]
        options = [:]
        let variants = presentation.variants + presentation.iFrameVariants
        for clone in clones {
            var groups: Set<Group> = []
            for variant in variants {
                let bases = allLocations(of: variant, renewal).filter { $0.pathwayID == clone.baseID }
                guard !bases.isEmpty else { continue }
                for base in bases { groups.formUnion(base.groupIDs.map { Group(type: $0.key, id: $0.value) }) }
                locations[variant.id, default: []] += bases.map { clone.location($0, stableID: variant.stableID) }
            }
            for option in presentation.groups.flatMap(\.options) {
                var option = current(option, renewal)
                let bases = option.encodings.filter { groups.contains(Group(type: option.type, id: $0.groupID)) }
                guard !bases.isEmpty else { continue }
                option.encodings += bases.map { clone.encoding($0) }
                options[option.id] = option
            }
        }
    }

    /// Returns the current locations of a variant: those of the presentation, then those on clones.
    func allLocations(
        of variant: Presentation.Variant,
        _ renewal: AddressRenewal
    ) -> [Presentation.Variant.Location] {
        renewal.locations(of: variant) + (locations[variant.id] ?? [])
    }

    /// Returns the current version of an option, with the encodings of clones.
    func current(_ option: MediaSelectionOption, _ renewal: AddressRenewal) -> MediaSelectionOption {
        options[option.id] ?? renewal.current(option)
    }
}
