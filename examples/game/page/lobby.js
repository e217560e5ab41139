export const createLobby = () => ({ isOpen: () => false, comeBack: async () => false, leave: async () => {} })
